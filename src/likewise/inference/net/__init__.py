"""The dense net of the paper's experiments (Section 6), on PyTorch."""
