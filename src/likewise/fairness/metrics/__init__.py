"""What is measured on pairs: ratios, curves, groups, violations, neighbours, and the error beside them."""
