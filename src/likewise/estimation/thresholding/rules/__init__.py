"""Rules for the threshold tau, which say where noise ends: one idea a file (Section 4.1)."""
