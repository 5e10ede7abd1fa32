"""Words of a report about data and estimate."""

from likewise.pipeline.summaries import regime


def test_regime_names_the_side():
    assert "n is larger" in regime(10, 1000, 1, 0.5)
    assert "n is smaller" in regime(10, 100, 10, 0.5)
    assert regime(10, 100, 0, 0.5).startswith("rank 0")
