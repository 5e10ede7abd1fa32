"""The examples of docs/adapters.md run, each where its library is installed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "adapters.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.splitlines()[0])
def test_examples_run_where_the_library_is(section):
    for library in re.findall(r"<!-- needs (\w+) -->", section):
        pytest.importorskip(library, exc_type=ImportError)
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, section.splitlines()[0], str(PAGE), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=report.append)
    assert not report, "".join(report)


def test_every_section_but_scikit_learn_names_what_it_needs():
    needs = [re.findall(r"<!-- needs (\w+) -->", section) for section in SECTIONS]
    assert needs == [[], ["implicit"], ["surprise"], ["lightfm"], [], ["lenskit"], ["torch"], ["fairlearn"]]
