"""HTML templates, from the folder `templates` of the package that uses them."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def html_environment(package: str) -> Environment:
    """Environment for the templates of a package, which escapes all values for HTML."""
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["css"] = css_class
    return environment


def css_class(name: str) -> str:
    """Name of a verdict, outcome or state as a CSS class: "within-tolerance"."""
    return name.replace(" ", "-")
