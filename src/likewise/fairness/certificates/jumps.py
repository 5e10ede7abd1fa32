"""Models that jump: individuals as close as you like can get outputs far apart, so no constant bounds them."""

from __future__ import annotations

_NEIGHBORS = (
    "nearest neighbours jump: a step as small as you like can exchange one neighbour for another, and the output "
    "changes by their whole difference"
)
_TREES = "trees jump: a step as small as you like over a split leads to another leaf, and the output changes by their whole difference"
CLASSES = "predicted classes jump: a step as small as you like over the decision boundary changes the class; probabilities and scores do not jump"

_TREE_LIBRARIES = ("xgboost", "lightgbm", "catboost")
_TREE_ENSEMBLES = ("Forest", "Trees", "Boosting")
_OWN_NEIGHBORS = ("KNNRecommender", "NearestNeighborModel")


def reason_of_jump(model: object) -> str | None:
    """Return why no constant bounds a model of this kind; None if it is not of one that is known to jump.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> reason_of_jump(DecisionTreeRegressor())[:11]
    'trees jump:'
    """
    library, *rooms = type(model).__module__.split(".")
    name = type(model).__name__
    if library in _TREE_LIBRARIES:
        return _TREES
    if library == "sklearn" and rooms[:1] == ["neighbors"]:
        return _NEIGHBORS
    if library == "sklearn" and (rooms[:1] == ["tree"] or any(word in name for word in _TREE_ENSEMBLES)):
        return _TREES
    return _NEIGHBORS if library == "likewise" and name in _OWN_NEIGHBORS else None
