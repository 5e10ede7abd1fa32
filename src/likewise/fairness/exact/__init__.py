"""Exact metrics over all pairs: what is added up, block by block, whether distances are in memory or measured again."""
