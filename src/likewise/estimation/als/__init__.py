"""Alternating least squares with biases: factors by regressions, regularisation given or estimated."""
