"""Check the links inside the built pages, without a network: each leads to a file that is there, and to an anchor that is in it.

    python docs/check_links.py              # prints those that do not, and exits with 1 if there are any

Run by `make docs` after the build. Addresses elsewhere are left alone.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

BUILT = Path(__file__).parent / "_build" / "html"
TEMPLATES = "_static"
"""Holds templates of the theme, which are no pages."""


class Page(HTMLParser):
    """The links of a page and the anchors in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Take what a tag links to, and what it can be linked by."""
        given = {name: value for name, value in attrs if value is not None}
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.anchors |= {given[name] for name in ("id", "name") if name in given}


read_page = functools.cache(Page)


def broken_links(page: Path, root: Path) -> Iterator[str]:
    """Yield each link of a page that leads to no file below the root, or to no anchor in it."""
    for link in dict.fromkeys(read_page(page).links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.is_relative_to(root) or not target.is_file():
            yield f"{page.relative_to(root)}: {link} leads to no file"
        elif target.suffix == ".html" and unquote(parts.fragment) not in read_page(target).anchors:
            yield f"{page.relative_to(root)}: {link} leads to no anchor"


def pages_below(root: Path) -> list[Path]:
    """Return the pages of a build."""
    return [page for page in sorted(root.rglob("*.html")) if TEMPLATES not in page.relative_to(root).parts]


def main(root: Path = BUILT) -> int:
    """Print the broken links and how many pages were looked at; return 1 where a link is broken, or nothing was built."""
    root = root.resolve()
    pages = pages_below(root)
    found = [link for page in pages for link in broken_links(page, root)]
    print(*found, f"{len(pages)} pages, {len(found)} broken links", sep="\n")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
