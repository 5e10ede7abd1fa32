"""Consistency (Zemel et al.) of a real model on law-school applicants, by AIF360 and by likewise, in AIF360's convention and in ours.

    pip install aif360
    LIKEWISE_DATA=... python benchmarks/compare_aif360.py

Applicants are compared by LSAT and UGPA; race and sex are held out of the distance. The decision is whether a logistic regression on LSAT,
UGPA, race and sex gives at least an even chance of passing the bar examination's first attempt.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from aif360.datasets import BinaryLabelDataset
from aif360.metrics import BinaryLabelDatasetMetric
from aif360.sklearn.metrics import consistency_score
from sklearn.linear_model import LogisticRegression

from likewise.fairness import consistency, feature_distance

PROTECTED = ["race", "sex"]


def applicants() -> pl.DataFrame:
    """Features as numbers; `race` is 1 for white applicants."""
    table = pl.read_csv(Path(os.environ["LIKEWISE_DATA"]) / "law" / "law_data.csv")
    white = (pl.col("race") == "White").cast(pl.Int64).alias("race")
    return table.select(white, "sex", "LSAT", "UGPA", "first_pf")


def by_aif360_class(features: pl.DataFrame, decisions: np.ndarray, n_neighbors: int) -> float:
    """AIF360's class, which takes its features from the data set and adds up one by one."""
    frame = pd.DataFrame(features.drop(PROTECTED).to_dict(as_series=False))
    frame = frame.assign(decision=decisions, group=features["race"].to_numpy())
    data = BinaryLabelDataset(df=frame, label_names=["decision"], protected_attribute_names=["group"])
    group = data.feature_names.index("group")
    data.features = np.delete(data.features, group, axis=1)
    return float(BinaryLabelDatasetMetric(data).consistency(n_neighbors)[0])


def main() -> None:
    table = applicants()
    features = table.drop("first_pf")
    model = LogisticRegression(max_iter=1000, class_weight="balanced").fit(
        features.to_numpy(), table["first_pf"].to_numpy()
    )
    decisions = model.predict(features.to_numpy()).astype(float)
    distance = feature_distance(features, exclude=PROTECTED)
    print(f"{len(table):,} applicants, {decisions.mean():.1%} decided positively")
    print(
        f"{'k':>3}{'AIF360 function':>20}{'AIF360 class':>20}{'likewise, aif360':>20}{'likewise, others':>20}"
    )
    unprotected = features.drop(PROTECTED).to_numpy()
    for k in (1, 5, 20):
        function, by_class = (
            consistency_score(unprotected, decisions, k),
            by_aif360_class(features, decisions, k),
        )
        same = consistency(decisions, distance, k, "aif360").value
        ours = consistency(decisions, distance, k).value
        print(f"{k:>3}{function:>20.16f}{by_class:>20.16f}{same:>20.16f}{ours:>20.16f}")
        print(
            f"    equal to the function: {function == same}; to the class within {abs(by_class - same):.0e}"
        )


if __name__ == "__main__":
    main()
