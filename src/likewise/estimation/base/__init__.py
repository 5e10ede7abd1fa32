"""What every estimator of the complete matrix shares: preparation, centres, weights, folding in, the estimate as factors."""
