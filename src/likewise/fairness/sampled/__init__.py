"""Metrics from drawn pairs, each with an interval that names its population."""
