"""Distances between individuals and between outputs: objects that say how they measure."""
