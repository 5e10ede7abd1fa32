"""K-nearest neighbours on complete and on observed rows (Section 6, Experiment 2)."""
