"""Outputs made individually fair after the fact: D <= L d for everybody, seen or not, at the least change."""

from likewise.fairness.repair.repair import Repair, repair

__all__ = ["Repair", "repair"]
