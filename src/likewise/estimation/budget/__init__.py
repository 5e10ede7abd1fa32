"""A fairness budget: the shrinkage that loses least while K* stays within a limit."""
