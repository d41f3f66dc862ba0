"""The file of the reproduction page."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from everycell.engine.artefacts import Paper, load_papers
from everycell.engine.files import write_atomically
from everycell.engine.render.html_templates import html_environment
from everycell.engine.render.page.model import build_model
from everycell.engine.render.page.vocabulary import Found


def write_page(
    path: Path, found: Sequence[Found], papers: Mapping[str, Paper] | None = None
) -> Path:
    """Write the reproduction page.

    Parameters
    ----------
    path
        The page, as in ``results/index.html``; results lie beside it in folders of their tiers.
    found
        One entry for each artefact and tier, as `everycell.engine.results.collect` gives them.
    papers
        Cards; by default those of the folder that the artefacts of `found` come from.

    Returns
    -------
    Path
        `path`. The same results give the same bytes.
    """
    if papers is None:
        papers = load_papers(found[0].artefact.folder.parent)
    return write_atomically(path, page_of(path.parent, found, papers))


def page_of(folder: Path, found: Sequence[Found], papers: Mapping[str, Paper]) -> str:
    """Text of the reproduction page of a results folder, as `write_page` writes it.

    Examples
    --------
    >>> page_of(Path("results"), [], {}).lstrip().lower().startswith("<!doctype html>")
    True
    """
    environment = html_environment("everycell.engine.render.page")
    script = environment.get_template("page.js").render()
    model = {**build_model(papers, found, folder), "script": script, "policy": policy_of(script)}
    return environment.get_template("page.html.j2").render(model)


def policy_of(script: str) -> str:
    """Content security policy of a page with one script: nothing else runs, nothing is asked for.

    Pictures lie beside the page, on a disk or on a server. Widths of bars are attributes.

    Examples
    --------
    >>> policy_of("")[:40]
    "default-src 'none'; script-src 'sha256-4"
    """
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )
