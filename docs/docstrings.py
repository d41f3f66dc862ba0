"""Docstrings for the site's API reference: formulas as MathML, text tables as code blocks.

This is an extension of griffe, the parser of mkdocstrings. It converts the reStructuredText that
numpydoc allows to Markdown.
"""

import re
from typing import Any

from griffe import Extension, Object
from latex2mathml.converter import convert

#: A displayed formula; further lines are indented.
DISPLAYED = re.compile(
    r"^(?P<indent> *)\.\. math:: *(?P<first>.*)\n(?P<further>(?:(?P=indent) +.+\n)*)", re.M
)
INLINE = re.compile(r":math:`([^`]+)`")
#: A cross-reference, such as :func:`~everycell.metrics.awrf.awrf` or :func:`.awrf`.
ROLE = re.compile(r":(?:attr|class|func|meth|mod):`~?(?P<path>(?:[\w.]*\.)?(?P<name>\w+))`")
#: A simple table, with lines of equals signs above and below the header and at the end.
TABLE = re.compile(r"^(?P<indent> *)=+(?: +=+)+\n(?:.+\n)+?(?P=indent)=+(?: +=+)+\n(?:.+\n)*", re.M)


def convert_to_markdown(text: str) -> str:
    """Convert a docstring to Markdown, with MathML formulas, links, and tables as code blocks."""

    def convert_formula(match: re.Match[str]) -> str:
        formula = " ".join(f"{match['first']} {match['further']}".split())
        return f"{match['indent']}{convert(formula, display='block')}\n"

    def fence_table(match: re.Match[str]) -> str:
        fence = f"{match['indent']}```text\n"
        return f"{fence}{match[0]}{match['indent']}```\n"

    def link_name(match: re.Match[str]) -> str:
        if not match["path"].startswith("everycell."):
            return f"`{match['name']}`"
        # Optional: a name without a page remains text.
        return f'<autoref optional identifier="{match["path"]}">`{match["name"]}`</autoref>'

    text = ROLE.sub(link_name, text)
    text = DISPLAYED.sub(convert_formula, f"{text}\n")
    text = INLINE.sub(lambda match: convert(match[1]), text)
    return TABLE.sub(fence_table, text).rstrip("\n")


class Docstrings(Extension):
    """Convert all docstrings to Markdown."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Convert the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = convert_to_markdown(obj.docstring.value)
