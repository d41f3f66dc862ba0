"""HTML templates, from the folder `templates` of the package that uses them."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def html_environment(package: str) -> Environment:
    """Environment for the templates of a package, which escapes all values for HTML."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
