"""Docstrings in the site's reference: formulas as MathML, tables of text as they are typed.

An extension of griffe, which mkdocstrings reads the code with. Docstrings hold the little
reStructuredText that numpydoc allows; the site is Markdown.
"""

import re
from typing import Any

from griffe import Extension, Object
from latex2mathml.converter import convert

#: A formula on its own lines; the ones after the first are indented deeper.
DISPLAYED = re.compile(
    r"^(?P<indent> *)\.\. math:: *(?P<first>.*)\n(?P<rest>(?:(?P=indent) +.+\n)*)", re.M
)
INLINE = re.compile(r":math:`([^`]+)`")
#: The name of something else, such as :func:`~everycell.metrics.exposure.awrf` or :func:`.awrf`.
ROLE = re.compile(r":(?:attr|class|func|meth|mod):`~?(?P<path>(?:[\w.]*\.)?(?P<name>\w+))`")
#: A simple table: lines of equals signs above, below the header and at the end.
TABLE = re.compile(r"^(?P<indent> *)=+(?: +=+)+\n(?:.+\n)+?(?P=indent)=+(?: +=+)+\n(?:.+\n)*", re.M)


def as_markdown(text: str) -> str:
    """Text of a docstring with formulas as MathML, links, and tables as blocks of code."""

    def displayed(match: re.Match[str]) -> str:
        formula = " ".join(f"{match['first']} {match['rest']}".split())
        return f"{match['indent']}{convert(formula, display='block')}\n"

    def typed(match: re.Match[str]) -> str:
        fence = f"{match['indent']}```text\n"
        return f"{fence}{match[0]}{match['indent']}```\n"

    def linked(match: re.Match[str]) -> str:
        if not match["path"].startswith("everycell."):
            return f"`{match['name']}`"
        # Optional: the name of something without a page stays text.
        return f'<autoref optional identifier="{match["path"]}">`{match["name"]}`</autoref>'

    text = ROLE.sub(linked, text)
    text = DISPLAYED.sub(displayed, f"{text}\n")
    text = INLINE.sub(lambda match: convert(match[1]), text)
    return TABLE.sub(typed, text).rstrip("\n")


class Docstrings(Extension):
    """Hand every docstring on as Markdown."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
