"""Singular value thresholding (Section 4.1): thresholds, shrinkers, and the estimator on them."""
