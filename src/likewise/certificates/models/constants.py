"""K1 of a trained model, from its weights; and which models jump, so that no constant bounds them."""

from __future__ import annotations

from math import isfinite
from typing import Any, get_args

from numpy.typing import ArrayLike

from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.models.layers import Activation, Layer, NoBoundError
from likewise.certificates.models.network import Bounded, EntryNet, entry_net_constant, network_constant
from likewise.certificates.models.pytorch import is_torch, torch_layers
from likewise.certificates.models.scikit_learn import Output, is_sklearn, sklearn_layers
from likewise.certificates.models.smooth_average import SmoothAverage, smooth_average_constant
from likewise.checks import checked_name
from likewise.errors import ModelError
from likewise.norms import Norm, norm_name, norm_order

_NEIGHBORS = (
    "the outputs of nearest neighbours jump: an arbitrarily small step can exchange one neighbour for another, and the output "
    "changes by their whole difference"
)
_TREES = "the outputs of trees jump: an arbitrarily small step over a split leads to another leaf, and the output changes by their whole difference"
CLASSES = "predicted classes jump: an arbitrarily small step over the decision boundary changes the class; probabilities and scores do not jump"

_TREE_LIBRARIES = ("xgboost", "lightgbm", "catboost")
_TREE_ENSEMBLES = ("Forest", "Trees", "Boosting")
_OWN_NEIGHBORS = ("KNNRecommender", "NearestNeighborModel")


def reason_of_jump(model: object) -> str | None:
    """Return why no constant bounds a model of this kind; None if it is not of one that is known to jump."""
    library, *rooms = type(model).__module__.split(".")
    name = type(model).__name__
    if library in _TREE_LIBRARIES:
        return _TREES
    if library == "sklearn" and rooms[:1] == ["neighbors"]:
        return _NEIGHBORS
    if library == "sklearn" and (rooms[:1] == ["tree"] or any(word in name for word in _TREE_ENSEMBLES)):
        return _TREES
    return _NEIGHBORS if library == "likewise" and name in _OWN_NEIGHBORS else None


IDENTITY = "identity"

_CODE = "no constant is known for a function; the largest ratio over pairs that were tried is a measurement, not a bound"
_ONE_VECTOR = "the input of an individual is one vector"


def model_constant(
    model: Any,
    *,
    from_norm: Norm = "l2",
    to_norm: Norm = "l2",
    output: Output = "auto",
    inputs: slice | ArrayLike | None = None,
) -> Certificate | Unavailable:
    """Prove the Lipschitz constant K1 of a trained model, from its weights.

    Parameters
    ----------
    model : fitted scikit-learn estimator, torch module, `EntryNet`, or ``"identity"``
        Linear and logistic models, dense nets, scalers, PCA, pipelines of these; ``torch.nn.Sequential`` of linear layers,
        activations, batch normalisation, dropout and softmax in evaluation mode. For a net that predicts each entry from its row and
        its column (`likewise.inference.DenseNet`) K1 bounds all predictions for an individual, as a function of its row.
    from_norm, to_norm : str or float, default "l2"
        ``"l1"``, ``"l2"``, ``"linf"``, or any q >= 1.
    output : {"auto", "score", "probability", "class"}, default "auto"
        Which output of a classifier: the vector of class probabilities, or the scores of `decision_function`. By default
        probabilities where a bound on them is known, else scores. Predicted classes have no constant.
    inputs : slice or array-like of int, optional
        Which inputs belong to the individual; the others are the same for both individuals of a pair, like the features of a film
        whose rating is predicted. All by default.

    Returns
    -------
    Certificate or Unavailable
        For any two inputs, seen or not. Unavailable names the reason: the model jumps, or a part of it has no known bound.

    Raises
    ------
    ModelError
        If the model is not fitted, has weights that are not finite, or lacks the output that was asked for.
    DistanceError
        If a norm is unknown.
    InputError
        If `inputs` are not positions among the model's inputs.

    Notes
    -----
    Exact (no smaller constant holds on all inputs): linear models from l1 to any norm, from any norm to linf, from l2 to l2, and
    between any norms with a single output; two-class probabilities. Elsewhere the constant is a bound, at most as large as
    the product over the layers of their exact norms. Rounding is added, never left out: see `rounding`.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Theorem 4.1: its K1.
    Szegedy et al., "Intriguing properties of neural networks", 2014, Section 4.3: the product over layers.
    Combettes, Pesquet, "Lipschitz certificates for layered network structures driven by averaged activation operators", SIAM J.
    Math. Data Sci. 2, 2020: the mean over ways, for nets that predict entries.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), np.array([0.0, 3.0, 8.0])
    >>> print(model_constant(Ridge(alpha=1e-9).fit(X, y)))  # y = 3 a + 4 b
    K1 = 5 (l2 to l2; every pair of rows, seen in the fit or not)
    >>> print(model_constant(LogisticRegression().fit(X, y > 2), output="class"))
    K1: none (predicted classes jump: ...)
    """
    p, q = norm_order(from_norm), norm_order(to_norm)
    checked_name("output", output, get_args(Output), ModelError)
    if isinstance(model, EntryNet):
        return entry_net_constant(model, p, q, inputs)
    if isinstance(model, SmoothAverage):
        return smooth_average_constant(model, p, q)
    try:
        layers, function = _read(model, output)
        found = network_constant(layers, p, q, inputs)
    except NoBoundError as error:
        return Unavailable("K1", str(error))
    if not isfinite(found.value):
        return Unavailable("K1", "the product of its norms is larger than the largest number")
    assumed = dict.fromkeys(
        layer.assumption for layer in layers if isinstance(layer, Activation) and layer.assumption
    )
    return _certificate(found, function, p, q, (*((_ONE_VECTOR,) if is_torch(model) else ()), *assumed))


def _read(model: Any, output: Output) -> tuple[list[Layer], str]:
    reason = reason_of_jump(model)
    if reason is not None or output == "class":
        raise NoBoundError(reason or CLASSES)
    if is_torch(model):
        return torch_layers(model), f"{type(model).__name__}.forward"
    if is_sklearn(model):
        return sklearn_layers(model, output)
    if isinstance(model, str):
        return _named(model)
    if callable(model):
        raise NoBoundError(_CODE)
    raise NoBoundError(f"none is known for {type(model).__name__}")


def _named(model: str) -> tuple[list[Layer], str]:
    if model != IDENTITY:
        raise ModelError(f"{model!r} as a model", f"a fitted model, or {IDENTITY!r}")
    return [], IDENTITY


def _certificate(
    found: Bounded, function: str, p: float, q: float, assumptions: tuple[str, ...]
) -> Certificate:
    return Certificate(
        name="K1",
        value=found.value,
        from_norm=norm_name(p),
        to_norm=norm_name(q),
        function=function,
        assumptions=assumptions,
        proof=found.steps,
        n_inputs=found.n_inputs,
        n_outputs=found.n_outputs,
    )
