"""The requirement by which pip installs the running package again (PEP 610)."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from everycell import __version__
from everycell.base.untrusted import parse_json

#: Name on package indexes. The name of the import package belongs to another project there.
DISTRIBUTION = "everycell-repro"


def requirement(extra: str = "workflow") -> str:
    """Requirement of this package with an extra.

    It names the commit or the wheel from which the package was installed. A package from an index,
    or from a folder of this machine, is identified by its version.
    """
    name = f"{DISTRIBUTION}[{extra}]"
    address = _address(_direct_url())
    return f"{name} @ {address}" if address else f"{name}=={__version__}"


def _direct_url() -> dict[str, Any]:
    """Content of `direct_url.json`, which an installation from an index lacks."""
    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    return parse_json(text) if text else {}


def _address(origin: dict[str, Any]) -> str | None:
    """Address of a commit, or of a wheel with its hash if the installer recorded it."""
    fragments: list[str] = []
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        address = f"{vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    elif "archive_info" in origin:
        address = origin["url"]
        hashes = origin["archive_info"].get("hashes") or {}
        fragments += [f"{name}={value}" for name, value in hashes.items() if name == "sha256"]
    else:
        return None
    if subdirectory := origin.get("subdirectory"):
        fragments.append(f"subdirectory={subdirectory}")
    return address + ("#" + "&".join(fragments) if fragments else "")
