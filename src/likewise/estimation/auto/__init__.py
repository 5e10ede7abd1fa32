"""The estimator that chooses among others by held-out observations."""
