"""The dense net as a model of the audit: it learns the observed entries from the zero-filled matrix and from an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from likewise._typing import Floats
from likewise.errors import ModelError
from likewise.inference.net.dense_net import train_dense_net
from likewise.inference.net.settings import NetSettings
from likewise.inference.net.torch_runtime import device_of
from likewise.inference.trained_model import Keep, TrainedModel
from likewise.observations import ObservedMatrix
from likewise.observations.outputs import dense
from likewise.progress import Progress
from likewise.randomness import RandomState


@dataclass(frozen=True, eq=False)
class DenseNetModel:
    """Each entry is predicted by a dense net from its row and its column; see `train_dense_net`.

    With a seed, both arms of a comparison learn the same observed entries, split and shuffled alike, from the same first weights, so
    that they differ in their features alone.

    Parameters
    ----------
    settings : NetSettings, default NetSettings()
    random_state : int, numpy.random.Generator or None, default None
        Without a seed, draw anew for each matrix.
    """

    settings: NetSettings = field(default_factory=NetSettings)
    random_state: RandomState = None

    @property
    def name(self) -> str:
        """What the model is called in a report."""
        return f"dense net {'-'.join(map(str, self.settings.hidden))}-1"

    @property
    def predicts_entries(self) -> bool:
        """Whether outputs predict the entries of the matrix: always."""
        return True

    def ensure_usable(self) -> None:
        """Raise what `__call__` would raise before it looks at any data: PyTorch or the device is not there."""
        device_of(self.settings.device)

    def __call__(
        self,
        matrix: Any,
        observed: ObservedMatrix | None = None,
        *,
        progress: Progress | None = None,
        keep: Keep | None = None,
    ) -> Floats:
        """Return the outputs; without `observed`, every entry of the matrix is learnt, and lies in [-1, 1]."""
        targets, bounds = (dense(matrix), (-1.0, 1.0)) if observed is None else (observed, _bounds(observed))
        net = train_dense_net(
            matrix,
            targets,
            settings=self.settings,
            bounds=bounds,
            random_state=self.random_state,
            progress=progress,
        )
        if keep is not None:
            keep(TrainedModel(net))
        return net.predict_all(matrix)


def _bounds(observed: ObservedMatrix) -> tuple[float, float]:
    low, high = observed.value_range.low, observed.value_range.high
    if low.ndim:
        raise ModelError(
            "observations with a value range for each column",
            "one working range for all",
            "scale them: Z.scaled()",
        )
    return float(low), float(high)
