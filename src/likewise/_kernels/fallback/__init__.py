"""The same operations on NumPy and SciPy: what runs without a compiler, and what the compiled ones are tested against."""
