"""Every example of README and docs runs: Python as a doctest, commands as a user would type them."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from likewise.cli.main import run
from likewise.observations import clustered

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
RUN = [document for document in DOCUMENTS if document.name not in ("adapters.md", "extending.md")]
"""Those whose examples run here; recipes need a package of their own, see `tests/test_extending.py`, and adapters other libraries, see
`tests/test_adapters.py`."""
SLOW = {"README.md", "auto.md", "getting_started.md", "reproduction.md"}
"""Pages whose examples take seconds: estimators are chosen, or experiments run."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

APPLICANTS = "name,test,grade,school\nann,160,3.1,day\nbea,,3.9,\ncy,151,2.4,night\ndan,171,3.0,day\n"
TOWNS = "name,town\nann,north\nbea,south\ncy,south\ndan,north\n"
DECISIONS = "name,score\nann,0.9\nbea,0.8\ncy,0.1\ndan,0.7\n"


def blocks(document: Path, language: str) -> list[tuple[int, str]]:
    """Return (line number, content) of the fenced blocks in a language."""
    text = document.read_text(encoding="utf-8")
    found = [match for match in FENCE.finditer(text) if match[1] == language]
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found]


def commands(document: Path) -> list[str]:
    """Return what stands after a prompt."""
    lines = [line for _, block in blocks(document, "console") for line in block.splitlines()]
    return [line.removeprefix("$ ").partition("    #")[0].strip() for line in lines if line.startswith("$ ")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder that holds the files which the examples name."""
    observed = clustered(
        n_individuals=60, n_features=80, n_clusters=3, observed_fraction=0.5, random_state=1
    ).observed
    rows, columns = observed.positions()
    lines = zip(rows + 1, columns + 1, np.round(2 * observed.values.data + 3, 2), strict=True)
    ratings = "\n".join(f"{user},{item},{rating}" for user, item, rating in lines)
    (tmp_path / "ratings.csv").write_text(f"userId,movieId,rating\n{ratings}\n")
    (tmp_path / "ratings").mkdir()
    for number in range(2):
        part = {
            "userId": rows[number::2],
            "movieId": columns[number::2],
            "rating": observed.values.data[number::2],
        }
        pl.DataFrame(part).write_parquet(tmp_path / "ratings" / f"{number}.parquet")
    (tmp_path / "applicants.csv").write_text(APPLICANTS)
    (tmp_path / "users.csv").write_text("userId,age\n" + "".join(f"{i},{20 + i % 7}\n" for i in range(1, 61)))
    (tmp_path / "films.csv").write_text(
        "movieId,year\n" + "".join(f"{j},{1990 + j % 9}\n" for j in range(1, 81))
    )
    (tmp_path / "decisions.csv").write_text(DECISIONS)
    (tmp_path / "towns.csv").write_text(TOWNS)
    (tmp_path / "scores.csv").write_text("id,score\n" + "".join(f"{i},{i % 5}\n" for i in range(1, 61)))
    rated = "".join(f"{i},{j},{1 + (i * j) % 5},{i + 9 * j}\n" for i in range(1, 31) for j in range(1, 21))
    (tmp_path / "timed.csv").write_text(f"userId,movieId,rating,timestamp\n{rated}")
    (tmp_path / "pairs.csv").write_text("1,1\n2,5\n")
    scores = "".join(f"{i},{j},{(i * j) % 7}\n" for i in range(1, 61) for j in range(1, 81))
    (tmp_path / "predictions.csv").write_text(f"user,item,score\n{scores}")
    kept = "".join(f"{i},{j},{(i * j) % 5}\n" for i in range(1, 61) for j in range(i % 9 + 1, 81, 9))
    (tmp_path / "kept.csv").write_text(f"user,item,rating\n{kept}")
    items = "".join(f"{i},{1 + (i + k) % 80}\n" for i in range(1, 61) for k in range(5))
    (tmp_path / "lists.csv").write_text(f"user,item\n{items}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exit_code(arguments: list[str]) -> int:
    try:
        return run(arguments)
    except SystemExit as end:  # after --help
        return int(end.code or 0)


def with_any(found):
    return [
        pytest.param(document, id=document.name, marks=[pytest.mark.slow] if document.name in SLOW else [])
        for document in RUN
        if found(document)
    ]


def run_python(document: Path) -> None:
    examples = [
        doctest.Example(each.source, each.want, each.exc_msg, line + each.lineno, each.indent, each.options)
        for line, block in blocks(document, "python")
        for each in doctest.DocTestParser().get_examples(block)
    ]
    test = doctest.DocTest(examples, {}, document.name, str(document), 0, None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("document", with_any(lambda document: blocks(document, "python")))
@pytest.mark.usefixtures("folder")
def test_python_examples_run(document):
    run_python(document)


@pytest.mark.parametrize("document", with_any(commands))
@pytest.mark.usefixtures("folder")
def test_commands_run(document, capsys):
    if document.stem.startswith("tutorial"):  # they make the files that their commands read
        run_python(document)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for command in commands(document):
        words = [word for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
        if words[0] == "make":
            assert set(words[1:]) <= targets, command
        elif words[0] == "likewise":
            # A check may fail on made data; whether it does is what its tests are for.
            may_end_with = {0, 3} if "--check" in words else {0}
            assert exit_code(words[1:]) in may_end_with, f"{command}\n{capsys.readouterr().err}"
        else:
            assert command == "pip install .", f"nothing runs {command!r}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)\)", document.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert not missing


def test_readme_opens_with_the_two_commands():
    assert commands(ROOT / "README.md")[:2] == ["make demo", "make test"]


def test_no_example_is_in_a_fence_that_nothing_runs():
    shown = {"", "bibliography", "console", "eval", "include", "json", "python", "text", "toctree", "toml"}
    for document in DOCUMENTS:
        names = re.findall(r"^```\{?(\w+)", document.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(names) <= shown, document.name


def test_every_citation_has_an_entry_and_every_entry_is_cited():
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text(), re.MULTILINE)
    pages = [document.read_text(encoding="utf-8") for document in DOCUMENTS]
    cited = {
        key
        for page in pages
        for keys in re.findall(r"\{cite:[tp]\}`([^`]+)`", page)
        for key in keys.split(",")
    }
    assert len(set(entries)) == len(entries)
    assert set(entries) == cited


def test_every_benchmark_is_listed():
    listed = set(re.findall(r"^\| `(\w+\.py)`", (ROOT / "docs" / "benchmarks.md").read_text(), re.MULTILINE))
    assert listed == {script.name for script in (ROOT / "benchmarks").glob("*.py")}


def script(name):
    """Import a script of the docs."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.slow
def test_the_frontiers_are_drawn_by_their_script():
    """Every estimator of the page, with the order that the page reads from the drawing."""
    frontiers = script("frontiers")
    found, axes = frontiers.frontiers(), Figure().subplots()
    frontiers.paint(axes, found)
    names = [text.get_text().split(",")[0] for text in axes.get_legend().get_texts()]
    assert names == ["svt", "als", "soft-impute", "biases", "auto"]
    assert all(len(one.points) == 7 for one in found.values())
    errors = {name: one.unconstrained.error.rmse for name, one in found.items()}
    assert abs(errors["auto"] - errors["als"]) < 1e-3  # one line in the drawing, whose axis spans a tenth
    assert min(errors, key=errors.get) in ("als", "auto")
    assert (ROOT / "docs" / "frontiers.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_the_overview_is_drawn_by_its_script():
    """The same shapes and words; their coordinates depend on fonts and versions."""
    overview = script("overview")
    axes = Figure().subplots()
    overview.paint(axes)
    observed, estimate = overview.matrices()
    assert [image.get_array().shape for image in axes.images] == [observed.shape, estimate.shape]
    assert np.isnan(observed).mean() > 0.5 > np.isnan(estimate).mean() == 0
    words = " ".join(text.get_text() for text in axes.texts)
    assert all(part in words for part in ("algorithm", "one distance", "proved", "what was observed"))
    drawn = (ROOT / "docs" / "overview.svg").read_text(encoding="utf-8")
    assert drawn.count("<image") == 1  # both matrices, put together


def test_everything_on_the_fidelity_page_is_there():
    page = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    rows = [row for row in rows if row[0] != "| the paper"]
    assert len(rows) >= 50
    missing = []
    for _, where, held_by in rows:
        sources = re.findall(r"`([\w/]+(?:/|\.\w+))`", where)
        roots = (ROOT / "src" / "likewise", ROOT)
        missing += [name for name in sources if not any((root / name).exists() for root in roots)]
        for name, function in re.findall(r"`([\w/]+(?:/|\.py))(?:::(\w+))?`", held_by):
            file = ROOT / "tests" / name
            if not file.exists() or (function and f"def {function}(" not in file.read_text(encoding="utf-8")):
                missing.append(f"{name} {function}")
    assert missing == []


def test_every_feature_of_the_comparison_has_a_page_and_a_test():
    page = ROOT / "docs" / "comparison.md"
    table = page.read_text(encoding="utf-8").partition("| feature |")[2]
    rows = [
        line.strip("| ").split(" | ")
        for line in table.splitlines()
        if line.startswith("| ") and "---" not in line
    ]
    claimed = [row for row in rows if row[1].split(" |")[0] != "no"]
    assert len(claimed) >= 19
    for feature, link, test in claimed:
        (target,) = re.findall(r"\]\((\w+\.md)\)", link)
        assert (page.parent / target).exists(), feature
        assert (ROOT / test.strip("`| ")).is_file(), feature
