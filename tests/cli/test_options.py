"""The command line offers what the library takes: no more, no less."""

import inspect
from itertools import pairwise
from typing import get_args

import pytest

import likewise as package
from likewise.cli.main import COMMANDS
from likewise.cli.options import EstimatorOptions, MeasureOptions, ReadOptions
from likewise.cli.output_options import OutputOptions
from likewise.cli.results import ResultOptions
from likewise.errors import EstimatorError
from likewise.estimation import ESTIMATORS, SHRINKERS, SVT, THRESHOLDS, Auto
from likewise.observations.reading.layouts import Layout
from likewise.observations.table import DuplicateRule
from likewise.observations.value_range import WorkingRange


def choices(options, name):
    annotation = inspect.get_annotations(options, eval_str=True)[name]
    return {
        choice
        for part in (annotation, *get_args(annotation))
        for choice in get_args(part)
        if isinstance(choice, str)
    }


@pytest.mark.parametrize(
    ("options", "name", "expected"),
    [
        (ReadOptions, "format", get_args(Layout)),
        (ReadOptions, "duplicates", get_args(DuplicateRule)),
        (EstimatorOptions, "working_range", get_args(WorkingRange)),
    ],
)
def test_choices_are_those_of_the_library(options, name, expected):
    assert choices(options, name) == set(expected)


def test_reading_has_every_option_of_read_ratings_with_its_default():
    parameters = inspect.signature(package.read_ratings).parameters
    expected = {name: parameter.default for name, parameter in parameters.items() if name != "path"}
    of_other_files = {"row_features": None, "column_features": None}  # what is known beside the observations
    assert vars(ReadOptions()) == expected | of_other_files


def test_what_is_not_said_is_left_to_the_estimator():
    assert repr(EstimatorOptions().make_estimator()) == "Auto(random_state=0)"
    assert repr(EstimatorOptions().make_estimator("svt")) == "SVT(random_state=0)"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_the_same_by_name_in_python_and_on_the_command_line(name):
    by_command = EstimatorOptions(estimator=name, working_range="unit", random_state=3).make_estimator()
    by_name = package.make_estimator(name, working_range="unit", random_state=3)
    assert type(by_command) is type(by_name) is ESTIMATORS[name]
    assert by_command.get_params() == by_name.get_params()


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 3.0},
        {"shrinker": "soft"},
        {"centering": "row"},
        {"propensities": "degrees"},
        {"settings": ("solver=auto",)},
    ],
)
def test_options_of_thresholding_call_for_it(options):
    assert type(EstimatorOptions(**options).make_estimator()) is SVT
    with pytest.raises(EstimatorError, match="unknown option of auto"):
        EstimatorOptions(**options, estimator="auto").make_estimator()


def test_options_of_the_default_leave_it():
    assert EstimatorOptions(settings=("time_budget=5",)).make_estimator().time_budget == 5
    assert type(EstimatorOptions(max_lipschitz=0.5).make_estimator()) is Auto


def test_settings_reach_the_estimator_as_numbers_or_text():
    settings = ("threshold=2.5", "shrinker=soft", "max_lipschitz=null", "centering=global")
    made = EstimatorOptions(settings=settings).make_estimator()
    assert made.get_params() == SVT(2.5, "soft", random_state=0, centering="global").get_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "svd"}, "unknown estimator 'svd'; expected one of 'svt'.*did you mean 'svt'"),
        ({"estimator": "biases", "threshold": 3.0}, "unknown option of biases 'threshold'"),
        (
            {"estimator": "cai-candes-shen", "max_lipschitz": 0.3},
            "unknown option of cai-candes-shen 'max_lipschitz'.*Hint: taken by .*svt",
        ),
        ({"settings": ("treshold=3",)}, "unknown option of svt 'treshold'.*did you mean 'threshold'"),
        ({"settings": ("threshold",)}, "--set threshold; expected NAME=VALUE"),
        ({"settings": ("=3",)}, "--set =3; expected NAME=VALUE"),
        ({"estimator": ""}, "unknown estimator ''"),
        ({"settings": ("value_range=[1,5]",)}, "--set value_range=.*--value-range LOW,HIGH"),
        ({"settings": ("value_range=per-column",), "estimator": "als"}, "--set value_range=per-column; "),
        (
            {"settings": ("threshold=4",), "threshold": 3.0},
            "--set threshold=4 beside threshold = 3.0; .*once",
        ),
        ({"settings": ("rank=4", "rank=4"), "estimator": "als"}, "--set rank=4 beside rank = 4; .*once"),
        (
            {"settings": ("random_state=4",), "random_state": 3},
            "--set random_state=4 beside random_state = 3",
        ),
    ],
)
def test_an_unknown_estimator_or_option_is_named(options, message):
    with pytest.raises(EstimatorError, match=message):
        EstimatorOptions(**options).make_estimator()


def test_the_help_is_broken_where_the_terminal_ends_and_nowhere_else():
    """In the source a description goes on in further lines."""
    options = (EstimatorOptions, MeasureOptions, OutputOptions, ReadOptions, ResultOptions)
    for described in (*COMMANDS, *options):
        lines = described.__doc__.splitlines()
        assert not [pair for pair in pairwise(lines) if all(line.startswith("    ") for line in pair)]


def test_the_help_names_every_estimator_threshold_and_shrinker():
    text = EstimatorOptions.__doc__
    assert all(name in text for name in (*ESTIMATORS, *THRESHOLDS, *SHRINKERS))
