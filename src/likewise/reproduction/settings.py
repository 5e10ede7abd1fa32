"""The settings of a run: checked before any work, written beside its results, compared when it goes on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from likewise.checks import checked_instance, checked_name, checked_non_negative, checked_whole
from likewise.errors import (
    InputError,
)
from likewise.reproduction.algorithm import DENSE_NET
from likewise.reproduction.arms import DEFAULT_ARMS, chosen_arms, resolve_arm
from likewise.reproduction.experiments import EXPERIMENTS, NOISE, Experiment, chosen_experiments

Targets = Literal["observed", "features", "truth"]
"""What the algorithm learns at the observed entries: Z; the arm's own features, as the appendix says; or A, as the released code does."""


TARGETS_IN_WORDS: dict[str, str] = {
    "observed": "observed Z",
    "features": "its own features, Z for h and A_hat for f, as the paper's appendix says",
    "truth": "the truth A, as the released code has it",
}

DEFAULT_SIMULATIONS = 10
"""As many as the paper averages over."""


QUICK_ARMS = ("h", "f-released")
"""What a quick look compares: the arms that the published table is matched by."""


_MOST = 100_000
"""Simulations of a cell."""


@dataclass(frozen=True)
class Settings:
    """What decides the numbers of a run.

    Parameters
    ----------
    experiments : tuple of str
        Keys of `EXPERIMENTS`.
    simulations : int
        How many simulations of each cell.
    arms : tuple of str
        Names of `ARMS`, or ``name=estimator``.
    targets : {"observed", "features", "truth"}
    model : str
        See `likewise.reproduction.algorithm.resolve_algorithm`.
    quick : bool
        Only the first and the last level of each experiment.
    random_state : int
        Seed of everything.
    noise : float or None
        Standard deviation of the noise of generated data; by default 0.1.

    Raises
    ------
    InputError
        An experiment, arm or target that is unknown; no simulation; a negative seed; an arm that the experiments cannot run.
    """

    experiments: tuple[str, ...] = tuple(EXPERIMENTS)
    simulations: int = DEFAULT_SIMULATIONS
    arms: tuple[str, ...] = DEFAULT_ARMS
    targets: Targets = "observed"
    model: str = DENSE_NET
    quick: bool = False
    random_state: int = 0
    noise: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "experiments", chosen_experiments(self.experiments))
        object.__setattr__(self, "arms", chosen_arms(self.arms))
        checked_name("targets", self.targets, get_args(Targets))
        checked_instance(
            "model", self.model, str, "a name of likewise.inference.MODELS, or package.module:name"
        )
        for name, smallest in (("simulations", 1), ("random_state", 0)):
            checked_whole(name, getattr(self, name), smallest, _MOST if name == "simulations" else None)
        if self.noise is not None:
            checked_non_negative("noise", self.noise)
        self._refuse_arms_that_need_the_truth()

    def _refuse_arms_that_need_the_truth(self) -> None:
        """Say before any work that some arms run on generated data alone."""
        arms = [arm for arm in self.arms if resolve_arm(arm).needs_truth]
        others = [key for key in self.experiments if EXPERIMENTS[key].kind != "synthetic"]
        if arms and others:
            raise InputError(
                f"arms {', '.join(arms)} in experiments {', '.join(others)}",
                "experiments on generated data, 1, 3 and 4",
            )

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise of generated data."""
        return NOISE if self.noise is None else self.noise

    def levels(self, experiment: Experiment) -> tuple[float, ...]:
        """Return the levels of an experiment that this run covers."""
        chosen = experiment.levels
        return tuple(dict.fromkeys((chosen[0], chosen[-1]))) if self.quick else chosen

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON has them."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }
