"""The house as docs/architecture.md draws it: which way imports point, what no file does, what every public name says."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from likewise import _ROOM_OF_NAME as ROOM_OF_NAME

from .public import ROOMS as PUBLIC_ROOMS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "likewise"
SOURCES = sorted(PACKAGE.rglob("*.py"))

ROOMS = [*PUBLIC_ROOMS, "cli"]
EVERYBODYS = {
    "_kernels",
    "_typing",
    "arrays",
    "checks",
    "errors",
    "memory",
    "norms",
    "plain",
    "progress",
    "randomness",
    "registry",
    "stored",
    "writing",
}
"""What every room may import; these import one another, but no room."""
NOT_FOR_FAIRNESS = {"spectrum", "estimation", "inference"}
"""An audit of anybody's model needs the individuals and the outputs, and nothing of these."""
LONGEST_FILE, LONGEST_BODY = 400, 36
EXTRAS = ("dnn", "dask", "ray", "data")
"""What a user may install beside; the other extras are for those who work on the package."""
IMPORTED_AS = {"scikit-learn": "sklearn"}
"""Names of imports that are not those of the libraries."""
HEAVY = {"sklearn", "polars", "matplotlib", "pandas", "scipy", "torch", "dask", "rich", "cyclopts", "jinja2"}
FORBIDDEN_MODULES = {
    "pickle",
    "shelve",
    "marshal",
    "dill",
    "cloudpickle",
    "urllib.request",
    "requests",
    "httpx",
    "socket",
}
FORBIDDEN_CALLS = {"eval", "exec", "input", "eliminate_zeros", "joblib.load", "os.system", "pd.read_pickle"}


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Walk without what stands under ``if TYPE_CHECKING``, which never runs."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from executed(child)


def imports(path: Path) -> set[str]:
    """Return the modules that a file imports, anywhere in it."""
    modules: set[str] = set()
    for node in executed(tree_of(path)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            modules |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return modules


def rooms_imported(tree: ast.Module) -> set[str]:
    """Return the rooms that a file knows of: also within a function, for types alone, and by names of the package, as `likewise.audit`."""
    plain = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names = {alias.name for alias in plain}
    package = {alias.asname or "likewise" for alias in plain if alias.name.split(".")[0] == "likewise"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in package:
            names.add(f"likewise.{node.attr}")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names |= {value.value for value in node.args if isinstance(value, ast.Constant)}
    parts = [str(name).split(".") for name in names]
    heads = {part[1] for part in parts if part[0] == "likewise" and len(part) > 1}
    return {ROOM_OF_NAME.get(head, head) for head in heads} & {*ROOMS, *EVERYBODYS}


@pytest.mark.parametrize(
    "line",
    [
        "from likewise.pipeline import audit",
        "from likewise import pipeline",
        "from likewise import audit",
        "import likewise.pipeline.audit",
        "import likewise\ndef late(): return likewise.audit",
        "import likewise as lw\ndef late(): return lw.audit(Z)",
        "def late():\n    import likewise\n    return likewise.pipeline.audit",
        "def late():\n    from likewise.pipeline.audit import audit",
        "if TYPE_CHECKING:\n    from likewise.pipeline import AuditReport",
        "importlib.import_module('likewise.pipeline')",
    ],
)
def test_no_way_to_look_up_is_overlooked(line):
    assert rooms_imported(ast.parse(line)) == {"pipeline"}


def test_what_names_no_room_is_none():
    assert (
        rooms_imported(ast.parse("import likewise\nprint(likewise.__version__, self.audit, other.pipeline)"))
        == set()
    )


def allowed(path: Path) -> set[str]:
    room = room_of(path)
    if room in EVERYBODYS:
        return EVERYBODYS
    if room not in ROOMS:  # the top of the package
        return {*ROOMS, *EVERYBODYS}
    earlier = set(ROOMS[: ROOMS.index(room) + 1]) | EVERYBODYS
    return earlier - NOT_FOR_FAIRNESS if room == "fairness" else earlier


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the name of each function and how many lines its body has, without the docstring.

    A signature is not counted: it has a line for each option, all of which a reader takes in at a glance.
    """
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = (
                node.body[1].lineno if ast.get_docstring(node) and len(node.body) > 1 else node.body[0].lineno
            )
            yield node.name, (node.end_lineno or start) - start + 1


def calls(path: Path) -> set[str]:
    """Return the names of what is called: ``f`` of ``f()`` and of ``x.f()``, and ``x.f``."""
    functions_called = [node.func for node in executed(tree_of(path)) if isinstance(node, ast.Call)]
    attributes = [function for function in functions_called if isinstance(function, ast.Attribute)]
    names = {function.id for function in functions_called if isinstance(function, ast.Name)}
    return (
        names
        | {ast.unparse(function) for function in attributes}
        | {function.attr for function in attributes if function.attr == "eliminate_zeros"}
    )


def failing(check: Callable[[Path], object]) -> dict[str, object]:
    """Return what a check finds of each file, without those of which it finds nothing."""
    return {name_of(path): found for path in SOURCES if (found := check(path))}


def test_every_room_is_on_the_plan():
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", plan, re.MULTILINE) == [*ROOMS, "_kernels"]
    present = {room_of(path) for path in SOURCES} - {"__init__", "__main__"}
    assert present == {*ROOMS, *EVERYBODYS}


def test_every_call_of_the_walk_is_there():
    """docs/architecture.md follows Z from the file to the page; a name there is one of the code."""
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    walk = plan.partition("## One walk of Z")[2].partition("\n## ")[0]
    calls_named = re.findall(r"^\| \d+ \| `([\w.]+)`", walk, re.MULTILINE)
    assert calls_named
    assert [name for name in calls_named if not is_named(f"likewise.{name}")] == []


def is_named(name: str) -> bool:
    """Whether a dotted name leads to a module, or to what it defines."""
    if name in MODULES:
        return True
    module, _, attribute = name.rpartition(".")
    holder = (
        importlib.import_module(module)
        if module in MODULES
        else getattr(importlib.import_module(module.rpartition(".")[0]), module.rpartition(".")[2], None)
    )
    return hasattr(holder, attribute)


def test_imports_point_one_way():
    assert failing(lambda path: rooms_imported(tree_of(path)) - allowed(path)) == {}


def modules_imported(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, also within functions and for types alone."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("likewise"):
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                found.add(name if name in MODULES and not is_public(name) else str(node.module))
    return found - {module_of(path)}


def is_public(name: str) -> bool:
    """Whether a package gives this name to a function, as `likewise.pipeline` gives `audit`, and not to its module."""
    package, _, attribute = name.rpartition(".")
    return attribute in re.findall(r"\w+", ast.unparse(tree_of(MODULES[package])).partition("__all__")[2])


def test_no_module_imports_itself_by_way_of_others():
    """A circle makes two files one that nobody can read by halves: what remains when leaves are taken away is one."""
    remaining = {module: modules_imported(path) for module, path in MODULES.items()}
    while leaves := {module for module, imported in remaining.items() if not imported & remaining.keys()}:
        for leaf in leaves:
            del remaining[leaf]
    assert remaining == {}


def test_only_the_kernels_call_c():
    found = failing(lambda path: {"ctypes", "cffi", "numba"} & imports(path))
    assert {name for name in found if not name.startswith("_kernels/")} == set()


def test_size():
    """One idea a file, which a few hundred lines hold; a function that needs more than a screen holds several."""
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}
    assert failing(lambda path: {name: n for name, n in functions(path) if n > LONGEST_BODY}) == {}


def test_nothing_runs_what_a_file_says_or_asks_or_fetches():
    # A cluster is asked for by its address alone; whether anybody listens there is looked at before Ray tries for half a minute
    # and Dask waits for ever.
    forbidden = failing(lambda path: FORBIDDEN_MODULES & imports(path))
    assert forbidden == {"engines/clusters.py": {"socket"}}
    assert failing(lambda path: FORBIDDEN_CALLS & calls(path)) == {}
    assert failing(lambda path: list(unpickling(path))) == {}


def unpickling(path: Path) -> Iterator[str]:
    """Yield the calls that load arrays and do not forbid pickles."""
    for node in executed(tree_of(path)):
        loads = isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load")
        if loads and "allow_pickle=False" not in map(ast.unparse, node.keywords):
            yield ast.unparse(node)


def test_every_library_that_is_imported_is_declared():
    """Also one that another brings along: it may stop to."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        re.match(r"[\w-]+", requirement)[0]
        for requirement in (
            *declared["dependencies"],
            *(one for extra in EXTRAS for one in declared["optional-dependencies"][extra]),
        )
    }
    known = {IMPORTED_AS.get(name, name) for name in named} | set(sys.stdlib_module_names) | {"likewise"}
    assert failing(lambda path: {module.partition(".")[0] for module in imports(path)} - known) == {}


def test_only_data_sets_use_a_network():
    found = failing(lambda path: {"pooch"} & {module.partition(".")[0] for module in imports(path)})
    assert set(found) == {"datasets/fetch.py"}


def test_every_path_that_ci_names_is_there():
    named = re.findall(r"\btests(?:/[\w.]+)*", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(named) > 1
    assert [path for path in named if not (ROOT / path).exists()] == []


def loaded_by(code: str) -> set[str]:
    """Return the modules that some code loads, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(ran.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    """So that ``import likewise`` and ``likewise --help`` stay fast."""
    assert not HEAVY & {name.partition(".")[0] for name in loaded_by("import likewise")}


def test_fairness_loads_no_estimation():
    assert not {f"likewise.{room}" for room in NOT_FOR_FAIRNESS} & loaded_by("import likewise.fairness")


def public_names() -> list[str]:
    rooms = ["", *(f".{room}" for room in PUBLIC_ROOMS), ".errors"]
    modules = [importlib.import_module(f"likewise{room}") for room in rooms]
    return [
        f"{module.__name__}.{name}"
        for module in modules
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        if inspect.isclass(value := getattr(module, name)) or inspect.isfunction(value)
        if value.__module__.startswith("likewise")
    ]


def documented_parameters(docstring: str) -> dict[str, str]:
    """Return the names in the numpydoc section Parameters, with what is said of their type."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", docstring, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: : (.*))?$", section[1] if section else "", re.MULTILINE)
    return {name.strip().lstrip("*"): kind for names, kind in entries for name in names.split(",")}


def test_public_names_are_documented():
    assert {name: wrong for name in public_names() if (wrong := list(undocumented(name)))} == {}


def undocumented(name: str) -> Iterator[str]:
    """Yield what the docstring of a public name lacks, or says otherwise than its signature."""
    module, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(module), attribute)
    docstring = inspect.getdoc(value) or ""
    if not docstring:
        yield "no docstring"
    if inspect.isclass(value) and (issubclass(value, Exception) or getattr(value, "_is_protocol", False)):
        return
    parameters = inspect.signature(value).parameters
    documented = documented_parameters(docstring)
    if documented and inspect.isclass(value):
        for base in value.__mro__[1:]:  # a data class has the fields of its bases, described there
            described = documented_parameters(inspect.getdoc(base) or "").items() if is_ours(base) else ()
            documented |= {field: kind for field, kind in described if field in parameters}
    if documented:
        yield from sorted(set(documented) ^ set(parameters))
    for parameter, kind in documented.items():
        said = re.search(r"default (.+)$", kind)
        if said and parameter in parameters and literal(said[1].strip("`")) != parameters[parameter].default:
            yield f"{parameter}: {said[0]}"


def is_ours(kind: type) -> bool:
    return kind.__module__.startswith("likewise")


def literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
