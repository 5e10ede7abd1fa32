"""The page on certificates: its example runs."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "certificates.md"


def test_the_example_runs():
    results = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert results.attempted > 5
    assert results.failed == 0
