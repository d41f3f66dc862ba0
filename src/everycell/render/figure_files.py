"""Style of all figures, and reproducible figure files.

A hatch or a marker repeats the meaning of each colour, for greyscale prints.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from everycell.base.files import atomic_path
from everycell.render.palette import GRID_LINES, INK

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "---", "|||", "ooo")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
#: Line styles of the first systems in a figure, as many as there are colours, the next ones, etc.
DASHES = ("-", "--", ":")
#: Width of the text of a thesis on A4 paper, in inches. Wider figures are scaled down in print.
TEXT_WIDTH = 6.3

STYLE: dict[str, object] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID_LINES,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "figure.facecolor": "white",
    "savefig.dpi": 200,
    # A dollar sign in a name does not start a formula.
    "text.parse_math": False,
    # Text is stored as text, so that it can be searched and read aloud.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Without a salt, the ids in an SVG are random.
    "svg.hashsalt": "everycell",
}
METADATA: Mapping[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}

_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")


@contextmanager
def style() -> Iterator[None]:
    """Use the project's figure style, regardless of the user's matplotlib settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def _with_numbered_clips(svg: bytes) -> bytes:
    """Number the clip paths, which matplotlib names by bounds that differ in their last bits."""
    names = re.findall(rb'<clipPath id="(p[0-9a-f]{10})">', svg)
    numbers = {name: b"clip%d" % number for number, name in enumerate(names, 1)}
    return re.sub(
        rb'(<clipPath id="|clip-path="url\(#)(p[0-9a-f]{10})(?=["\)])',
        lambda match: match[1] + numbers.get(match[2], match[2]),
        svg,
    )


def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as ``stem.svg``, ``stem.pdf`` and ``stem.png`` (200 dpi), all or none.

    Faults in print, such as text that is too small, are warnings, and so is a failure to find them.
    """
    from everycell.render.figure_faults import figure_faults

    files = []
    try:
        faults = figure_faults(figure)
    except Exception as error:
        faults = [f"its faults in print are unknown ({type(error).__name__}: {error})"]
    if faults:
        warnings.warn(f"{stem.name}: {'; '.join(faults)}.", stacklevel=2)
    with style(), ExitStack() as drafts:
        for kind, metadata in METADATA.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            if kind == "svg":
                # Names in the data may contain characters that XML does not allow.
                content = _NOT_IN_XML.sub(b"\xef\xbf\xbd", buffer.getvalue())
                buffer = io.BytesIO(_with_numbered_clips(content))
            file = stem.with_name(f"{stem.name}.{kind}")
            drafts.enter_context(atomic_path(file)).write_bytes(buffer.getvalue())
            files.append(file)
    return files
