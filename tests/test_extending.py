"""Each recipe of docs/extending.md is followed as it stands there: in a package of its own, found by its entry points alone, and in a copy of likewise."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "extending.md"
SOURCES = ROOT / "src" / "likewise"
MOST_FILES = 3
KINDS = {
    "A threshold rule": "likewise.thresholds",
    "A shrinker": "likewise.shrinkers",
    "A distance": "likewise.distances",
    "An estimator": "likewise.estimators",
    "A model": "likewise.models",
    "A metric over pairs": "likewise.pair_metrics",
    "A file format": "likewise.formats",
}
RECIPES = dict(
    re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)
each_recipe = pytest.mark.parametrize("title", KINDS)


def fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def sources(text: str) -> dict[str, str]:
    """Return the files of a recipe: what stands in a block below a line that is the name of a file."""
    return dict(re.findall(r"^`(\w+\.py)`:\n\n```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def install(text: str, folder: Path) -> None:
    """Lay the package of a recipe out as pip would: modules, and metadata that name the entry points."""
    for name, code in sources(text).items():
        (folder / name).write_text(code, encoding="utf-8")
    (declared,) = fenced(text, "toml")
    groups = tomllib.loads(declared)["project"]["entry-points"]
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))
    ]
    metadata = folder / "recipe-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: recipe\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run(folder: Path, *arguments: str, sources: str = ".") -> subprocess.CompletedProcess[str]:
    """Run Python in a folder whose sources come before what is installed."""
    environment = os.environ | {"PYTHONPATH": str(folder / sources), "MPLBACKEND": "agg"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    ratings = "\n".join(
        f"{user},{item},{1 + (user * item) % 5}"
        for user in range(1, 21)
        for item in range(1, 16)
        if (user + item) % 3
    )
    (tmp_path / "ratings.csv").write_text(f"userId,movieId,rating\n{ratings}\n")
    return tmp_path


def test_there_is_a_recipe_for_each_kind():
    assert RECIPES.keys() == KINDS.keys()


@each_recipe
def test_a_recipe_takes_few_files_and_names_those_that_exist(title):
    text = RECIPES[title]
    assert 1 <= len(sources(text)) <= MOST_FILES
    assert list(tomllib.loads(*fenced(text, "toml"))["project"]["entry-points"]) == [KINDS[title]]
    named = re.findall(r"`((?:src|tests)/[\w/.]+)`", text)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.slow
@each_recipe
def test_a_recipe_works_as_it_is_written(title, folder):
    text = RECIPES[title]
    install(text, folder)
    examples = "\n".join(block for block in fenced(text, "python") if block.startswith(">>>"))
    (folder / "examples.txt").write_text(examples, encoding="utf-8")
    assert doctest.DocTestParser().get_examples(examples)
    ran = run(folder, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS", "examples.txt")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for line in "".join(fenced(text, "console")).splitlines():
        ran = run(folder, "-m", *shlex.split(line.removeprefix("$ ")))
        assert ran.returncode == 0, f"{line}\n{ran.stderr}"


@pytest.mark.slow
def test_without_its_package_a_recipe_is_unknown_by_name(folder):
    ran = run(
        folder, "-m", "likewise", "estimate", "ratings.csv", "--threshold", "largest-gap", "--out", "e.npz"
    )
    assert ran.returncode == 1
    assert "unknown threshold 'largest-gap'" in ran.stderr


INSIDE = re.compile(
    r"`(?P<name>\w+)\.py` goes into `(?P<home>src/[\w./]+)`.*?`(?P<entry>[^`]+)` goes into\s`(?P<table>\w+)` of\s`(?P<file>src/[\w./]+)`",
    re.DOTALL,
)
ORIGINAL_HIDDEN = """
import sys

sys.meta_path = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
"""
"""An editable installation finds its own sources before any path; the copy is what is meant."""
REFUSED = """
>>> import pytest
>>> from likewise.errors import ShapeError, ThresholdError
>>> from likewise.estimation import ObservationStatistics, resolve_threshold
>>> with pytest.raises(ThresholdError, match="the observations too"):
...     _ = resolve_threshold("largest-gap", ObservationStatistics(4, 9, 0.25, 0.0625))
>>> with pytest.raises(ShapeError, match="positions are not ids"):
...     _ = d.between([0], [7])
"""
"""What the tests of the package ask of every threshold and distance."""


def insert(text: str, folder: Path) -> None:
    """Write the code of a recipe and its line into a copy of likewise, where the page says that they go."""
    recipe = INSIDE.search(text)
    ((name, code),) = sources(text).items()
    assert name == f"{recipe['name']}.py"
    home, file = folder / recipe["home"], folder / recipe["file"]
    lines = file.read_text(encoding="utf-8")
    opened = "{" if ":" in recipe["entry"] else r"= \("
    (table,) = re.findall(rf"^{recipe['table']}\b.*?{opened}", lines, re.MULTILINE | re.DOTALL)
    with_entry = lines.replace(table, f"{table}{recipe['entry']}, ")
    if home == file:
        own_import = rf"^from {module_name(folder, file)} import .*\n"
        added = re.sub(own_import, "", code, flags=re.MULTILINE)
        with_entry = with_entry.replace(table, f"{added}\n\n{table}")
    else:
        (home / name).write_text('"""A recipe."""\n\n' + code, encoding="utf-8")
        what = re.search(r"\w+$", recipe["entry"])[0]
        first = "from __future__ import annotations\n"
        with_entry = with_entry.replace(
            first, f"{first}from {module_name(folder, home / name)} import {what}\n"
        )
    file.write_text(with_entry, encoding="utf-8")


def module_name(folder: Path, file: Path) -> str:
    return ".".join(file.relative_to(folder / "src").with_suffix("").parts)


@pytest.fixture(scope="module")
def fork(tmp_path_factory):
    """Return a copy of likewise to which every recipe was added."""
    folder = tmp_path_factory.mktemp("fork")
    compiled = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(SOURCES, folder / "src" / "likewise", ignore=compiled)
    for named in ("pyproject.toml", "tests/test_architecture.py", "tests/public.py"):
        (folder / named).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / named, folder / named)
    for text in RECIPES.values():
        insert(text, folder)
    (folder / "src" / "sitecustomize.py").write_text(ORIGINAL_HIDDEN)
    return folder


def succeeds_in(fork: Path, *arguments: str) -> None:
    ran = run(fork, *arguments, sources="src")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
def test_recipes_keep_to_the_direction_of_imports_inside_the_package(fork):
    chosen = "one_way or itself_by_way or heavy"
    succeeds_in(
        fork, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_architecture.py", "-k", chosen
    )


@pytest.mark.slow
def test_recipes_work_inside_the_package(fork):
    examples = [block for text in RECIPES.values() for block in fenced(text, "python")]
    told = "\n".join([*(block for block in examples if block.startswith(">>>")), REFUSED])
    where = f">>> import likewise\n>>> assert likewise.__file__.startswith({str(fork)!r})\n"
    (fork / "examples.txt").write_text(where + told, encoding="utf-8")
    succeeds_in(fork, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS", "examples.txt")
