"""The requirement by which pip installs the running package again (PEP 610)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from everycell import __version__
from everycell.base.untrusted import parse_json, text_of

#: Name on package indexes. The name of the import package belongs to another project there.
DISTRIBUTION = "everycell-repro"


def is_own_source(project: Path) -> bool:
    """Whether a folder is the source of this package, not a project with a copy of it."""
    try:
        content = tomllib.loads(text_of(project / "pyproject.toml"))
        return content["project"]["name"] == DISTRIBUTION
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


def is_installed(name: str) -> bool:
    """Whether a distribution is installed."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def requirement(extra: str = "workflow", *, released: bool = False) -> str:
    """Requirement of this package with an extra.

    It names the commit or the wheel from which the package was installed. A package from an index,
    or from a folder of this machine, is identified by its version, as is a `released` one.
    """
    name = f"{DISTRIBUTION}[{extra}]"
    address = None if released else _address(_direct_url())
    return f"{name} @ {address}" if address else f"{name}=={__version__}"


def wheel_file() -> Path | None:
    """Wheel on this machine from which the package was installed."""
    address = _address(_direct_url()) or ""
    path = Path(unquote(urlsplit(address).path))
    is_wheel = address.startswith("file:") and path.suffix == ".whl" and path.is_file()
    return path if is_wheel else None


def local_origin() -> str:
    """Path on this machine from which the package was installed; empty if others can get it.

    A wheel that still exists does not count, since it can be passed on.
    """
    address = urlsplit(_direct_url().get("url", ""))
    is_local = address.scheme == "file" and wheel_file() is None
    return unquote(address.path) if is_local else ""


def locked_requirements(roots: Iterable[str]) -> list[str]:
    """Installed versions of all that requirements need, without this package itself."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    pins: dict[str, str] = {}
    visited: set[tuple[str, str]] = set()
    pending = [(Requirement(root), "") for root in (*roots, f"{DISTRIBUTION}[workflow]")]
    while pending:
        needed, extra = pending.pop()
        if needed.marker and not needed.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(needed.name)
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # code that runs from a folder on the path has no metadata
        pins[name] = f"{name}=={package.version}"
        for part in {"", *needed.extras}:
            if (name, part) not in visited:
                visited.add((name, part))
                pending += [(Requirement(line), part) for line in package.requires or ()]
    pins.pop(DISTRIBUTION, None)
    return sorted(pins.values())


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
