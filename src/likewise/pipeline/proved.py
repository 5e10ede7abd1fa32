"""What is proved of the outputs of each arm: the constant of the algorithm, times that of the pre-processing where there is some."""

from __future__ import annotations

from dataclasses import replace

from likewise.errors import LikewiseError
from likewise.fairness import (
    AffineCertificate,
    Certificate,
    LipschitzCertificates,
    Unavailable,
    compose,
    model_constant,
)
from likewise.inference import TrainedModel
from likewise.norms import Norm, norm_order
from likewise.pipeline.run import Run

Proved = Certificate | AffineCertificate | Unavailable


def prove_outputs(run: Run, constants: LipschitzCertificates | None, norm: Norm) -> dict[str, Proved]:
    """Bound how far apart the outputs of two individuals can be, given their observations (Theorem 4.1).

    Parameters
    ----------
    run : Run
        With what the algorithm learnt in each arm.
    constants : LipschitzCertificates or None
        Of the pre-processing.
    norm : str or float
        Of the distance between zero-filled observations.

    Returns
    -------
    dict of str to Certificate, AffineCertificate or Unavailable
        An entry for each arm in which the algorithm ran here; from `norm` to l2. Of ``"with"`` the distance is the one that the
        pre-processing is bounded by, which is another where it centres or weighs.
    """
    found: dict[str, Proved] = {}
    for arm, trained in run.trained.items():
        if arm == "without":
            found[arm] = _constant_of(trained, norm)
        elif constants is not None:
            found[arm] = compose(_of_preprocessing(constants, norm), _constant_of(trained, "l2"))
    return {arm: replace(proved, name=f"{proved.name} {arm} pre-processing") for arm, proved in found.items()}


def _constant_of(trained: TrainedModel, norm: Norm) -> Certificate | Unavailable:
    try:
        return model_constant(trained.model, from_norm=norm, to_norm="l2", output=trained.output)
    except LikewiseError as error:
        return Unavailable("K1", str(error))


def _of_preprocessing(constants: LipschitzCertificates, norm: Norm) -> Certificate | Unavailable:
    plain, filled = (
        (constants.k_star, constants.filled)
        if norm_order(norm) == 1
        else (constants.spectral, constants.filled_spectral)
    )
    return plain if filled is None or isinstance(plain, Certificate) else filled
