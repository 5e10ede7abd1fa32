"""A classifier or regressor as a model, with what it says of individuals whose target it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.errors import ModelError
from likewise.inference.estimator_model import is_classifier, run_estimator, seeded, target_of
from likewise.inference.model import FunctionModel
from likewise.observations import ObservedMatrix

N_FOLDS = 5
"""Parts that individuals are split into; each is predicted by a fit to the others."""


class SupervisedModel(FunctionModel):
    """An estimator that learns a target.

    Parameters
    ----------
    estimator : scikit-learn estimator
    target : array-like, shape (m,) or (m, t)
    random_state : int or None
        For its parts that have none, and for the folds.
    """

    def __init__(self, estimator: Any, target: ArrayLike, random_state: int | None) -> None:
        super().__init__(
            str(estimator), run_estimator(estimator, target, random_state), predicts_entries=False
        )
        self.estimator, self.target, self.random_state = estimator, target, random_state

    def unseen(self, matrix: Any, observed: ObservedMatrix | None = None) -> Floats | None:
        """Return outputs for everybody by fits that have not seen their target (cross-validation).

        Parameters
        ----------
        matrix : ndarray or csr_array, shape (m, n)
        observed : ObservedMatrix, optional
            Whose individuals the labels of the target, if it has any, name.

        Returns
        -------
        ndarray, shape (m,) or (m, k), or None
            Probabilities or 0/1 columns of the classes in sorted order, or numbers. None where there are several targets, nothing is predicted,
            probabilities do not add up to 1, or a class has too few members for two folds.

        Raises
        ------
        ModelError
            If a fit fails.
        """
        y = target_of(self.target, observed)
        classifies = is_classifier(self.estimator)
        fewest = np.unique(y, return_counts=True)[1].min() if classifies else y.size
        n_folds = min(N_FOLDS, int(fewest))
        if y.ndim != 1 or n_folds < 2 or not hasattr(self.estimator, "predict"):
            return None
        method = "predict_proba" if hasattr(self.estimator, "predict_proba") else "predict"
        folds = (StratifiedKFold if classifies else KFold)(n_folds, shuffle=True, random_state=self._seed)
        fresh = seeded(clone(self.estimator), self.random_state)
        try:
            told = np.asarray(cross_val_predict(fresh, as_array(matrix), y, cv=folds, method=method))
        except Exception as error:  # a model of others can fail in any way
            reason = f"{type(error).__name__}: {error}"
            raise ModelError(
                f"{self.name} failed on a part of the individuals with {reason}", "a model that runs on it"
            ) from error
        if classifies and method == "predict":
            told = np.equal.outer(told, np.unique(y))
        elif classifies and not np.allclose(told.sum(axis=1), 1):
            return None  # whatever these are, they are no probabilities
        return np.asarray(told, dtype=np.float64)

    @property
    def _seed(self) -> int:
        return 0 if self.random_state is None else self.random_state
