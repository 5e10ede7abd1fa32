"""Sphinx configuration: `make docs`."""

import importlib
from importlib.metadata import version as installed_version

project = "likewise"
author = "The likewise developers"
copyright = "2026, The likewise developers"
version = release = installed_version("likewise")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinxcontrib.bibtex",
]
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"
exclude_patterns = ["_build", "_templates", "reproduction"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# Files beside docs/, as README and pages call them, and where a page finds them.
BESIDE = {
    "../README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "CITATION.cff": "../CITATION.cff",
    "LICENSE": "../LICENSE",
}


def link_as_page(*event) -> None:
    """Turn links to files beside docs/, in what was read, to where a page finds them."""
    content = event[-1]
    for name, place in BESIDE.items():
        content[0] = content[0].replace(f"]({name})", f"]({place})")


def setup(app) -> None:
    """Have links turned in pages, and in files that pages include."""
    app.connect("source-read", link_as_page)
    app.connect("include-read", link_as_page)


# A name that a room takes over from another, as pipeline does the records of report, is described where it is defined.
ROOMS = (
    "observations",
    "datasets",
    "spectrum",
    "certificates",
    "estimation",
    "inference",
    "fairness",
    "sklearn",
    "report",
    "pipeline",
    "reproduction",
)


def shown_elsewhere(room: str) -> set[str]:
    """Return the public names of a room that another room defines, and makes public too."""
    module = importlib.import_module(f"likewise.{room}")
    homes = {
        name: str(getattr(getattr(module, name), "__module__", "")).split(".")[1:2] for name in module.__all__
    }
    elsewhere = {
        name: home[0] for name, home in homes.items() if home and home[0] in ROOMS and home[0] != room
    }
    return {
        name
        for name, home in elsewhere.items()
        if name in importlib.import_module(f"likewise.{home}").__all__
    }


autosummary_context = {
    "shown_elsewhere": {
        "likewise.errors": set(),
        **{f"likewise.{room}": shown_elsewhere(room) for room in ROOMS},
    }
}
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc says more: shapes, units, ranges
numpydoc_show_class_members = False
default_role = "py:obj"

html_theme = "pydata_sphinx_theme"
html_title = "likewise"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_end": [],
}
html_show_sourcelink = False
