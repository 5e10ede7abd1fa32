"""The main job: estimate, infer, measure, certify, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.estimation import MatrixEstimator
from likewise.fairness import PairwiseDistance
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.observations.split import SplitRule
from likewise.pipeline.assemble import make_report
from likewise.pipeline.compared import Case
from likewise.pipeline.measurement import MissingEntries, PairChoice
from likewise.pipeline.output_as_feature import refuse_outputs_as_features
from likewise.pipeline.references import ReferenceChoice, reference_distances
from likewise.pipeline.request import AuditRequest
from likewise.pipeline.summaries import summarise_data
from likewise.progress import StepProgress, Steps, shown
from likewise.report.audit_report import AuditReport
from likewise.writing import PathLike


def audit(
    individuals: ObservedMatrix | PairwiseDistance | Any,
    *,
    outputs: ArrayLike | PairwiseDistance | Mapping[str, Any] | None = None,
    estimator: str | MatrixEstimator | None = None,
    model: Any = None,
    target: ArrayLike | ObservedMatrix | None = None,
    hold_out: float | None = None,
    split: SplitRule | None = None,
    reference: ReferenceChoice | None = None,
    splits: int | None = None,
    least_shared: int | None = None,
    test: Any = None,
    norm: Norm | None = None,
    output_distance: str | None = None,
    nearest_share: float = 0.1,
    lipschitz: float | None = None,
    tolerance: float = 0.0,
    groups: ArrayLike | None = None,
    item_groups: ArrayLike | Mapping[Any, Any] | None = None,
    consistency: int | None = None,
    pairs: PairChoice = "all",
    confidence: float = 0.95,
    memory_limit: float | str = "1 GiB",
    violations: PathLike | None = None,
    individual_constants: PathLike | None = None,
    sandwich_individuals: int | None = None,
    missing_entries: MissingEntries | None = None,
    random_state: int | np.random.Generator | None = 0,
    source: str = "in memory",
    progress: StepProgress | bool | None = None,
) -> AuditReport:
    """Audit individual fairness: of an algorithm with and without pre-processing, or of given outputs.

    Without `outputs`, some observations are hidden. The algorithm runs on the others twice: zero-filled (h), and estimated (f). Both
    outputs are measured against one reference distance d, fixed before any processing, and against what was hidden. With `outputs`, these
    are measured, and no algorithm runs. An argument without effect is refused.

    Parameters
    ----------
    individuals : ObservedMatrix, what its constructor takes, or PairwiseDistance
        Observations, of shape (m, n), with individuals as rows. Or, with `outputs`, the distance d between individuals.
    outputs : array-like, PairwiseDistance, or mapping of str to them, optional
        Outputs computed elsewhere, of shape (m,) or (m, k), or a distance D between them. A mapping holds two of them, before and after
        a change, under any names. Labelled rows (an index, a column of ids, keys of a mapping) are aligned with the individuals:
        ``{user: score}``, ``{user: {item: score}}``, or ``{user: [items]}``, lists of recommended items, the best first; so is a frame with a
        line for each user and item, with a score or the best first. An estimator is then fitted only if given.
    estimator : str or MatrixEstimator, optional
        Pre-processing; names as in `make_estimator`. By default `Auto`, which chooses by held-out error. The paper's is ``"svt"``, which
        has a proved constant. It is cloned, not fitted in place.
    model : str, callable or scikit-learn estimator, optional
        The algorithm h; see `likewise.inference.as_model`. By default ``"knn"``.
    target : array-like, shape (m,) or (m, t), optional
        What a classifier or regressor learns. Of shape (m,), its accuracy is measured in 5 folds, on individuals it has not seen. With `outputs`: the
        truth they are held against (`likewise.fairness.target_accuracy`); individuals without one are counted and left out. With lists of items, or
        values of all items: ratings that did not go into the outputs, as an ObservedMatrix or what its constructor takes, with ids of its own
        (`likewise.fairness.ranking_accuracy`).
    hold_out : float, optional
        Share of the observations to hide, in [0, 1); 0 measures no error. By default 0.1 where a model runs, 0.5 with reference ``"held-out"``.
    split : {"random", "time"}, optional
        Which observations are hidden: drawn ones, the default; or the latest, so that the error says how well the past predicts the future. By time the
        observations need times (`read_ratings` with ``time``, or `with_times`), and the default reference is ``"observed"``.
    reference : {"held-out", "observed", "co-observed", "gower", "estimate"} or PairwiseDistance, optional
        d, or where it comes from. ``"observed"`` is the paper's d, on zero-filled observations. ``"held-out"`` adds fairness on the truth A
        (Definition 3.2): individuals are compared on observations that neither the algorithm nor the estimator sees. It is the default where a model
        runs and, with half hidden, enough pairs share 15 of them; else ``"observed"`` is. ``"co-observed"`` compares two individuals on what both observed
        (`CoObservedDistance`), where zero-filled rows mostly tell how much was observed. ``"gower"`` compares the rows of a data frame by
        numbers and text (`GowerDistance`). ``"estimate"`` is the released code's convention. It
        is no valid before/after comparison, and the report says so.
    splits : int, optional
        Asks for reference ``"held-out"``: hide observations that many times, and fit and run each time. The truth and the error are measured over all
        of them (cross-fitting), which narrows intervals. What is proved, and the paper's d, are those of the first. By default 1.
    least_shared : int, optional
        How many hidden features two individuals must share to be compared, by default 15, or as many of 10, 5 and 3 as 1,000 pairs share where fewer than 100 share 15; asks for reference ``"held-out"`` unless another is named.
        With fewer d is noisier, which moves the gap towards 1; `splits` make up for some of it. With
        ``"co-observed"``: how many features both must have observed; by default 1. With ``"gower"``: how many both must have; by default half of what
        two individuals share on average.
    test : ObservedMatrix, or what its constructor takes, optional
        Observations from elsewhere of the same individuals and features, such as ratings of items drawn at random. The error on them stands
        beside that on hidden observations, which people chose to give.
    norm : {"l1", "l2", "linf"} or float, optional
        Norm of d where it is taken from the data; by default ``"l1"``.
    output_distance : str, optional
        D between outputs, by default ``"l2"``. A norm (``"l1"``, ``"linf"``, ``"l3"``); ``"absolute"`` for single numbers; ``"tv"``, ``"hellinger"`` or ``"w1"``
        for probabilities of classes (ordered ones for ``"w1"``); ``"top-n"`` or ``"rbo"`` for the 10 items with the highest scores, ``"top-5"`` for 5;
        or a registered name. What is proved speaks of l2 alone.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar.
    lipschitz : float, optional
        L > 0: count the pairs with D > L d, and judge. Proofs come first; where they do not decide, measurements do.
    tolerance : float, default 0
        Share of the pairs that may violate, in [0, 1).
    groups : array-like, shape (m,), optional
        A group for each individual, aligned as outputs are. Metrics are split by pairs within and across groups.
    item_groups : mapping of item to group, or array-like, optional
        Where outputs are lists of items: a group for each item, to measure exposure by; see `likewise.fairness.exposure`.
    consistency : int, optional
        Measure also ``1 - mean |y_i - mean y of that many nearest neighbours|`` (Zemel et al. 2013); outputs are one number for each individual.
    pairs : "all" or int, default "all"
        Measure all pairs exactly, or draw that many: each metric then has an interval for all pairs of these data.
    confidence : float, default 0.95
        Of each interval, in (0, 1).
    memory_limit : float or str, default "1 GiB"
        Bytes, or a size such as ``"4 GiB"``, that the audit may hold beyond the data. Where pairs take more, they are measured block by
        block, twice. Where a complete matrix takes more, it is refused before the work.
        Blocks and what is loaded on the way take up to 300 MiB, also where the limit is lower.
    violations : path-like, optional
        CSV file for every pair with ``D > lipschitz * d``, the largest ratio first; its numbers have 7 digits.
    individual_constants : path-like, optional
        CSV file for what is proved of each individual: ``D <= K_i d`` for every pair that one is in, where each row of the estimate is a regression. The report
        has them too (``individual_constants``).
    sandwich_individuals : int, optional
        Of how many individuals all pairs are measured to hold what is proved against (``arms["with"].sandwich``); by default 300. Each is held as a dense row.
    missing_entries : {"any", "intervals"}, optional
        Judge ``D <= lipschitz * d`` for all values that missing entries may have: certainly fair, certainly violated, or undecided, and by which
        features; see `judge_completions`. Values are ``"any"`` in the value range, or in conformal ``"intervals"`` of `confidence`.
    random_state : int, Generator or None, default 0
        For hidden observations, drawn pairs, and estimators and models without a seed.
    source : str
        Where the data came from, for the report.
    progress : callable, bool or None, default None
        Called with (step, done, total). By default steps of over two seconds show a bar on a terminal; False shows none.

    Returns
    -------
    AuditReport
        Prints its answer; ``details``, ``to_json``, ``to_frame``, ``save`` and ``plot_...`` for the rest.

    Raises
    ------
    InputError
        Or one of its kinds: see `likewise.errors`.

    Warns
    -----
    ValueRangeWarning
        Columns of an array or frame differ in scale, and one range is inferred for all.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Sections 3, 4 and 6.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(n_individuals=60, n_features=80, n_clusters=3, observed_fraction=0.5, random_state=1)
    >>> report = audit(data.observed)
    >>> report.arms["with"].error.rmse < report.arms["without"].error.rmse
    True

    Scores computed elsewhere, against a distance between applicants:

    >>> from likewise.fairness import RowDistance
    >>> applicants = np.array([[3.1, 150.0], [3.2, 151.0], [2.0, 140.0]])
    >>> report = audit(RowDistance(applicants / applicants.std(axis=0)), outputs=[0.9, 0.2, 0.1], lipschitz=1.0)
    >>> report.arms["outputs"].verdict.status
    'violated'
    """
    asked = AuditRequest.of(locals())
    with shown(progress) as reported:
        steps = Steps(reported)
        runs, measurement, d, test = asked.runs(steps), asked.measurement, asked.reference, asked.test
        run = next(runs)
        notes = [*measurement.notes, *(d.notes if isinstance(d, PairwiseDistance) else ()), *run.notes]
        notes += [] if test is None else [test.note]
        data = summarise_data(asked.individuals, run.working_range, source, tuple(notes))
        references = reference_distances(d, run, asked.norm, measurement.least_shared)
        case = Case(run, d, references, measurement, asked.norm, steps)
        if outputs is not None:  # what a model predicts of the features is called as they are
            refuse_outputs_as_features(d if isinstance(d, PairwiseDistance) else asked.individuals, case)
        return make_report(case, data, asked.settings(), reruns=runs, test=test)
