"""Draw a figure for a file or to stand in a page: the same bytes for the same numbers, whatever matplotlib is set to."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FileFormat = Literal["svg", "png"]
Paint = Callable[["Figure"], Any]
"""Draws on an empty figure."""

INK = "#1c1e21"
"""Text and axes; becomes the colour of the surrounding text where a figure stands in a page."""

SIZE = (7.2, 3.8)
"""Of a figure with one pair of axes, in inches."""

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.15,
    "grid.color": INK,
    "legend.frameon": False,
    "text.parse_math": False,  # a name with dollar signs is no formula
} | dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"), INK
)

_NO_DATE = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def to_bytes(paint: Paint, name: str, file_format: FileFormat, size: tuple[float, float] = SIZE) -> bytes:
    """Draw a figure for a file.

    Parameters
    ----------
    paint : callable
        Draws on an empty figure.
    name : str
        Makes the ids within an SVG the same on every run, and different between figures.
    file_format : {"svg", "png"}
    size : (float, float)
        In inches.

    Returns
    -------
    bytes
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE | {"svg.hashsalt": name})
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        figure.savefig(
            stream,
            format=file_format,
            dpi=150,
            transparent=file_format == "svg",
            metadata=_NO_DATE[file_format],
        )
    return stream.getvalue()


def as_inline(svg: bytes, name: str, colors: Mapping[str, str] | None = None) -> str:
    """Make a drawing stand in a page: no file header, ids of its own, and the colours of the page.

    Parameters
    ----------
    svg : bytes
        From `to_bytes`.
    name : str
        Of the figure; no other in the page has it.
    colors : mapping of str to str, optional
        The page's names of colours that are drawn.

    Returns
    -------
    str
    """
    drawing = svg.decode()
    for mark in ('id="', "url(#", 'href="#'):
        drawing = drawing.replace(mark, f"{mark}{name.replace('_', '-')}-")
    for variable, color in (colors or {}).items():
        drawing = drawing.replace(color, f"var(--{variable}, {color})")
    return drawing[drawing.index("<svg") :].replace(INK, "currentColor").strip()
