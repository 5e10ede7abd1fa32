"""Experiments, arms, settings and published numbers: what can be chosen, and what is said of what cannot."""

import pytest

from likewise.errors import InputError
from likewise.reproduction import reproduce


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"experiments": "5"}, "unknown experiment '5'"),
        ({"experiments": "alll"}, "did you mean 'all'"),
        ({"experiments": ""}, "unknown experiment ''"),
        ({"arms": "f-releasd"}, "did you mean 'f-released'"),
        ({"arms": "h,h"}, "each name once"),
        ({"arms": ""}, "unknown arm"),
        ({"arms": "x=noise-edg"}, "did you mean 'noise-edge'"),
        ({"arms": "h=svt"}, "a name of its own"),
        ({"arms": "x="}, "name=estimator"),
        ({"arms": "f-x=nan"}, "threshold nan of an arm; expected a finite number >= 0"),
        ({"arms": "h,f-x=-1"}, "threshold -1 of an arm"),
        ({"arms": "f-x=inf"}, "threshold inf of an arm"),
        ({"arms": "f-x=1e400"}, "threshold 1e400 of an arm"),
        ({"arms": 1}, "arms=1; expected names"),
        ({"arms": [1]}, "names, in a list"),
        ({"experiments": 1}, "experiments=1; expected names"),
        (
            {"model": "idendity"},
            "expected one of 'knn', 'knn-co-raters', 'smooth-knn', 'identity', 'dnn', 'package",
        ),
        ({"simulations": 0}, "simulations=0"),
        ({"simulations": 1.5}, "simulations=1.5"),
        ({"simulations": True}, "simulations=True"),
        ({"random_state": -1}, "random_state=-1"),
        ({"noise": -0.1}, "noise=-0.1"),
        ({"noise": float("nan")}, "noise=nan"),
        ({"targets": "thruth"}, "did you mean 'truth'"),
        ({"jobs": 0}, "jobs=0"),
        ({"model": "identiti"}, "did you mean 'identity'"),
        ({"model": "nowhere:net"}, "nowhere"),
    ],
)
def test_what_cannot_be_chosen_is_named(options, message):
    with pytest.raises(InputError, match=message):
        reproduce(**({"experiments": "1", "model": "identity"} | options))
