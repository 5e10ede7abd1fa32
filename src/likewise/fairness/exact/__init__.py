"""Exact figures over all pairs: what is added up, block by block, whether distances are held in memory or measured again."""
