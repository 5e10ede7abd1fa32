"""The tests of a module are found under its name, in the same folder; where they stand elsewhere, this page says where, and why."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "likewise"

SERVED = """
_kernels/backend         native/library: what is loaded, and how many threads run
_kernels/pairs           fallback/pairs native/pairs: one operation, all its twins
_kernels/products        fallback/products native/products: one operation, all its twins
engines/engine           choice local: every engine gives the same
certificates/preprocessing       constants: constants of an estimate, of which these are the parts
certificates/steepness           individual_constants: what information bounds, and its use for each row
certificates/regression          regression_map: a map of rows, and what is proved of it
certificates/filled              row_map: rows filled with their centre are a map of rows
certificates/models/constants    layers: constants of models, of which these are the parts
cli/process              main exits ../__main__: the command as a process
cli/audit                inputs results: what the command reads and writes
cli/options              output_options values: how options are read
cli/estimate             predictions: what the command prints
test_hostile_arguments   errors: what is raised for what cannot be used
datasets/fetch           known: a data set, from its licence to its folder
estimation/plugins       ../registry: names that others add
estimation/als/solver    descent in_blocks variational ../base/factor_update: one regression, its parts
estimation/auto/transformer      trials: one choice, its steps
estimation/auto/mixture          ../base/mixture_folding: a mixture and its folding
estimation/base/preparation      bias_equations ../biases: the centre, and the estimator that is nothing else
estimation/base/folding          weighting posterior_folding: rows that are folded in, and the estimate that holds them
estimation/contract      base/estimator: what every estimator keeps to
estimation/budget/budget         dual: the budget, and the proof that it is kept at least cost
estimation/nuclear_norm/soft_impute      transformer: one problem, its solver and its estimator
estimation/thresholding/rules/rules      optimal paper ../noise_level: every rule against the same simulated spectra
estimation/thresholding/thresholds       statistics: what rules are told
fairness/distances/observed      custom gower distance: distances of observations, each against its definition
fairness/distances/features      cancellation feature_table rows: distances of complete rows
fairness/completions     distances/completion_distance: bounds of d over all completions
fairness/exact/measure           accumulated exact_metrics sweep ../options: all pairs, in steps of one sweep
fairness/explanation     distances/differences: what a pair is told by
fairness/metrics/fairness_metrics        curves metric_value similar violations: what a measurement holds
fairness/repair/repair           projection: one repair, its steps
fairness/sampled/measure         sampled_metrics: drawn pairs, in steps of one measurement
fairness/sampled/intervals/independent   interval: intervals from independent draws
fairness/search/worst_pairs      best_first coordinates: one search
inference/model          registry: any model, and the check of what it puts out
inference/neighbors/nearest_neighbors    training_rows: one model, its steps
inference/net/dense_net          trained_net: one net, its steps
estimation/als/sources           ../base/prior_mean: where vectors begin, in a fit and of new rows
observations/with_features       features feature_columns: what is known of rows and columns, encoded and questioned
observations/partitioned/reading  blocks parts sorting text_file: from parts to blocks and back
observations/index_alignment     estimator_input: labels that are aligned or refused
observations/reading/columns     layouts: how columns are named and laid out
pipeline/partitioned     worst_within: individuals of blocks, drawn and searched
pipeline/audit           assemble request run: one audit, its steps
report/table             accuracy answer item_lists numbers records: what a report says, read where it is printed
pipeline/frontier        ../report/frontier ../report/frontier_points: the record, and the call that makes it
reproduction/formats     figures reproduction tables: what a run leaves behind
spectrum/triplets        candidates library_solvers search: every solver on every kind of matrix
"""
"""Test files that serve further modules, named from their folder."""

OF_SEVERAL = {
    "test_adapters.py": "the examples of docs/adapters.md",
    "test_architecture.py": "the package as a whole",
    "test_documents.py": "README and docs",
    "test_extending.py": "the recipes of docs/extending.md",
    "test_links.py": "docs/check_links.py, which `make docs` runs",
    "test_mirror.py": "the tests themselves",
    "test_hostile_arguments.py": "all public names",
    "test_numbers.py": "the numbers of the docs",
    "test_random_state.py": "all public names that draw",
    "certificates/test_docs.py": "the numbers of docs/certificates.md",
    "certificates/test_lemmas.py": "the steps of the paper's proofs",
    "certificates/test_soundness.py": "certificates held against pairs, all kinds",
    "pipeline/test_target.py": "accuracy against a target, from the audit to the page",
    "report/test_first_screen.py": "what newcomers stumbled over, as it is shown",
    "_kernels/test_entries.py": "entries of a low-rank matrix, one function of products",
    "_kernels/test_expansion.py": "distances from inner products, one function of pairs",
    "cli/test_bad_input.py": "all commands",
    "cli/test_demo_and_doctor.py": "two commands",
    "cli/test_distance_from.py": "one option, from the file of answers to the verdict",
    "cli/test_examples.py": "the examples in the help of all commands",
    "cli/test_features.py": "two options, from the files to the estimate",
    "cli/test_hostile_side_information.py": "features, times and levels that cannot be used, from files and in Python",
    "cli/test_left_out.py": "people of files who are not in the data: every reader, from the file to the page",
    "cli/test_limits.py": "the exit code of limits, all commands",
    "cli/test_measuring.py": "how outputs are compared, and by what, from files: several modules",
    "cli/test_process.py": "the command as a process",
    "cli/test_proved_bad_input.py": "what is held out, proved, repaired: each fault from files and from Python",
    "cli/test_proved_options.py": "the options of these, each that makes no sense",
    "cli/test_propensities_sample.py": "one option, from the file to the estimate",
    "cli/test_spelling.py": "options in messages, all commands",
    "estimation/test_blocks.py": "every estimator that takes observations in blocks",
    "estimation/test_contract.py": "every estimator",
    "estimation/test_plugins.py": "what others register",
    "estimation/base/test_regression.py": "foldings that are regressions",
    "estimation/thresholding/rules/test_rules.py": "every threshold rule",
    "fairness/test_extremes.py": "sizes at the ends of what numbers hold",
    "fairness/test_ties.py": "pairs at equal distances, exact and streamed",
    "fairness/exact/test_in_memory.py": "the sweep over numbers in memory",
    "fairness/exact/test_streamed.py": "the sweep that measures block by block",
    "fairness/distances/test_axioms.py": "every distance",
    "fairness/distances/test_factors.py": "distances of factors, in two modules",
    "fairness/sampled/intervals/test_coverage.py": "every interval",
    "fairness/sampled/intervals/test_independent.py": "means and quantiles",
    "inference/test_movielens.py": "models on real data",
    "inference/net/test_dense_net_gpu.py": "the net on a GPU",
    "observations/test_labelled.py": "values that say whose they are, in all that take them",
    "observations/test_positions.py": "positions, in all that take them",
    "observations/test_stored_zeros.py": "stored zeros, in all that read them",
    "observations/reading/test_ambiguous.py": "files that can be read in two ways",
    "observations/reading/test_fuzz.py": "any file",
    "observations/reading/test_hostile.py": "files made to hurt",
    "observations/reading/test_panics.py": "files on which polars panics",
    "observations/reading/test_real_files.py": "files as they are published",
    "spectrum/test_block_rows.py": "rows in blocks, one kind of operator, on every engine",
    "pipeline/test_estimators.py": "audits with every estimator",
    "pipeline/test_memory_limit.py": "the memory of a whole audit",
    "pipeline/test_missing_in_worst.py": "one caveat, from data to sentence",
    "pipeline/test_proved_outputs.py": "what is proved of outputs, from estimate to report",
}
"""Test files that are not those of one module: what they look at."""


def file_of(name: str) -> Path:
    folder, _, module = name.rpartition("/")
    return TESTS / folder / (module if module.startswith("test_") else f"test_{module}")


def served() -> dict[str, Path]:
    """Return the test file of each module that is tested under another name."""
    found = {}
    for line in SERVED.strip().splitlines():
        tests, modules, reason = re.fullmatch(r"(\S+)\s+([^:]+): (.+)", line).groups()
        file = file_of(tests).with_suffix(".py")
        for module in modules.split():
            place = (PACKAGE / file.relative_to(TESTS).parent / f"{module}.py").resolve()
            found[str(place.relative_to(PACKAGE))] = file
        assert reason
    return found


def test_every_module_has_its_tests_where_they_are_looked_for():
    """Names that only give types have nothing to test."""
    elsewhere = served()
    modules = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")} - {Path("_typing.py")}
    lost = [
        str(path)
        for path in sorted(modules)
        if path.name != "__init__.py"
        and str(path) not in elsewhere
        and not (TESTS / path.parent / f"test_{path.name}").exists()
    ]
    assert lost == []


def test_the_list_names_what_is_there_and_needs_it():
    elsewhere = served()
    assert [str(file) for file in elsewhere.values() if not file.exists()] == []
    assert [module for module in elsewhere if not (PACKAGE / module).exists()] == []
    under_its_name = [
        module for module in elsewhere if (TESTS / module).with_name(f"test_{Path(module).name}").exists()
    ]
    assert under_its_name == []


def test_every_test_file_is_that_of_a_module_or_says_of_what():
    stray = []
    for file in TESTS.rglob("test_*.py"):
        name = str(file.relative_to(TESTS))
        module = (PACKAGE / name).with_name(file.name.removeprefix("test_"))
        if not module.exists() and name not in OF_SEVERAL:
            stray.append(name)
    assert stray == []
    assert [name for name in OF_SEVERAL if not (TESTS / name).exists()] == []
