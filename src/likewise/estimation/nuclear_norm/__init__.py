"""Completion by the nuclear norm: SoftImpute with its path, and the iteration of Cai, Candès and Shen."""
