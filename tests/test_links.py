"""The check of the links inside the built pages finds what is broken, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "check_links", Path(__file__).parents[1] / "docs" / "check_links.py"
)
check_links = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_links)


@pytest.fixture
def built(tmp_path):
    """Two pages and a picture; the first page links to all there is."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "a picture.svg").write_text("<svg/>")
    (tmp_path / "deep" / "other.html").write_text(
        '<h1 id="größe">Size</h1><a name="old"></a><a href="../index.html">up</a>'
    )
    links = (
        "deep/other.html",
        "deep/other.html?q=1#old",
        "deep/other.html#gr%C3%B6%C3%9Fe",
        "#",
        "https://example.org/x#y",
        "mailto:a@b.c",
    )
    page = "".join(f'<a href="{link}">x</a>' for link in links)
    (tmp_path / "index.html").write_text(f'<img src="a%20picture.svg">{page}')
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "template.html").write_text('<a href="{{ nowhere }}">x</a>')
    return tmp_path


def test_links_that_lead_somewhere_pass(built, capsys):
    assert check_links.main(built) == 0
    assert capsys.readouterr().out == "2 pages, 0 broken links\n"


@pytest.mark.parametrize(
    ("tag", "told"),
    [
        ('<a href="gone.html">x</a>', "gone.html leads to no file"),
        ('<a href="deep">x</a>', "deep leads to no file"),
        ('<img src="gone.svg">', "gone.svg leads to no file"),
        ('<a href="../outside.html">x</a>', "../outside.html leads to no file"),
        ('<a href="deep/other.html#Old">x</a>', "deep/other.html#Old leads to no anchor"),
        ('<a href="#here">x</a>', "#here leads to no anchor"),
    ],
)
def test_a_broken_link_is_named(built, capsys, tag, told):
    (built.parent / "outside.html").write_text("there, but not among the pages")
    (built / "deep" / "third.html").write_text(f'<a href="other.html#old">x</a>{tag.replace("deep/", "")}')
    (built / "third.html").write_text(tag)
    assert check_links.main(built) == 1
    assert f"third.html: {told}" in capsys.readouterr().out.splitlines()


def test_nothing_built_is_no_success(tmp_path):
    assert check_links.main(tmp_path) == 1
