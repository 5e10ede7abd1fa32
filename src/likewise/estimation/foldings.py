"""Kinds of folding by the name under which an estimate stores them."""

from __future__ import annotations

from likewise.estimation.folding import Folding, LinearFolding, RidgeFolding
from likewise.estimation.posterior_folding import PosteriorFolding

FOLDINGS: dict[str, type[Folding]] = {
    folding.kind: folding for folding in (LinearFolding, RidgeFolding, PosteriorFolding)
}
"""Kinds of folding by the name under which they are stored."""
