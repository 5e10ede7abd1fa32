"""The command line offers what the library takes: no more, no less."""

import inspect
from typing import get_args

import pytest

import likewise as package
from likewise.cli.options import Completing, Reading
from likewise.estimation import SHRINKERS, SVT, THRESHOLDS
from likewise.observations.reading.choices import Layout
from likewise.observations.triplets import DuplicateRule
from likewise.observations.value_range import Interval


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
        (Reading, "format", get_args(Layout)),
        (Reading, "duplicates", get_args(DuplicateRule)),
        (Completing, "interval", get_args(Interval)),
    ],
)
def test_choices_are_those_of_the_library(options, name, expected):
    assert choices(options, name) == set(expected)


def test_reading_has_every_option_of_read_ratings_with_its_default():
    parameters = inspect.signature(package.read_ratings).parameters
    expected = {name: parameter.default for name, parameter in parameters.items() if name != "path"}
    assert vars(Reading()) == expected


def test_completing_has_the_defaults_of_the_estimator():
    defaults = SVT().get_params()
    for name in ("threshold", "shrinker", "interval"):
        assert getattr(Completing(), name) == defaults[name]


def test_the_help_names_every_threshold_and_shrinker():
    text = Completing.__doc__
    assert all(name in text for name in (*THRESHOLDS, *SHRINKERS))
