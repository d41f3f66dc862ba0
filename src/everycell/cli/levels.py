"""Evidence for the levels of ACM's artifact review, which a committee awards, not this package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from everycell.base.untrusted import parse_json
from everycell.cli.placeholders import PLACEHOLDERS
from everycell.cli.printing import pluralise
from everycell.records.registry import read_part
from everycell.render.page.overview import PaperOnPage
from everycell.sources.fetch import OWN_DATA
from everycell.verdicts.counts import COMPUTED
from everycell.verdicts.headlines import describe_verdicts
from everycell.verdicts.record_checks import check_paper

POLICY = "https://www.acm.org/publications/policies/artifact-review-and-badging-current"
NOTE = (
    "A committee awards badges. These are the facts that everycell can see for each level of ACM's "
    "policy (version 1.1), and what it cannot see."
)
#: Hosts that archive files under a permanent identifier.
ARCHIVES = (
    "doi.org",
    "zenodo.org",
    "osf.io",
    "figshare.com",
    "softwareheritage.org",
    "dataverse.org",
    "dataverse.harvard.edu",
    "hdl.handle.net",
)
#: Files of a project that make it easier to reuse.
REUSED = {
    "README.md": "documentation",
    "LICENSE": "the licence of the code",
    "config.yaml": "settings apart from the code",
    "pyproject.toml": "requirements",
}
#: Mark of reports in HTML, which a later report may replace.
MARK = '<meta name="generator" content="everycell report">'
Level = dict[str, Any]


def is_report(path: Path) -> bool:
    """Whether a file is a report or its levels.json, as `everycell report` writes them."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            content = parse_json(text)
            return isinstance(content, dict) and content.get("policy") == POLICY
    except (OSError, ValueError):
        return False
    return MARK in text.partition("</head>")[0]


def levels_of(paper: PaperOnPage, root: Path, faults: Sequence[str]) -> list[Level]:
    """Levels with the evidence for each, what is missing, and what only people can judge.

    `faults` are those of `everycell verify`.
    """
    functional = _level("Artifacts Evaluated - Functional", _functional(paper, root, faults))
    reusable = _level("Artifacts Evaluated - Reusable", _reusable(root))
    if functional["missing"]:
        reusable["missing"].insert(0, "what is missing for Functional")
    return [
        _level("Artifacts Available", _available(paper, root)),
        functional,
        reusable,
        _level("Results Reproduced", chain(_unverified(faults), _reproduced(paper))),
    ]


def _level(name: str, facts: Iterator[tuple[str, str]]) -> Level:
    """A level with its facts by kind."""
    level: Level = {"level": name, "evidence": [], "missing": [], "to_judge": []}
    for kind, text in facts:
        level[kind].append(text)
    return level


def _available(paper: PaperOnPage, root: Path) -> Iterator[tuple[str, str]]:
    publication = paper.about.read_publication()
    repositories = {one.url: one for one in [*publication.code, *publication.data]}
    for repository in repositories.values():
        host = urlsplit(repository.url).netloc
        if any(host == name or host.endswith(f".{name}") for name in ARCHIVES):
            yield "evidence", f"{repository.url} is in an archive ({repository.holds})"
        else:
            yield "missing", f"an archived copy, with a DOI, of {repository.url}"
    if not repositories:
        yield "missing", "an archive of code and data: `publication` in paper.yaml lists none"
    part = root / "published" / paper.about.key / "registry.yaml"
    files = read_part(part).files if part.is_file() else {}
    groups: dict[tuple[str, str], list[str]] = {}
    for key, entry in files.items():
        group = ("missing", "without a public address")
        if entry.origin or entry.wheel:
            group = ("evidence", "with an address and a hash")
        elif (root / OWN_DATA / key).is_file():
            group = ("evidence", "with a hash in `data/`, which a deposit contains")
        groups.setdefault(group, []).append(key)
    for (kind, text), keys in groups.items():
        yield kind, f"{pluralise(len(keys), 'data file')} {text}, such as {keys[0]}"
    if paper.about.licence in ("none stated", PLACEHOLDERS["licence"]):
        yield "missing", "a licence: `licence` in paper.yaml is not stated"
    else:
        yield "evidence", f"licence: {paper.about.licence}"
    yield "to_judge", "whether the archive of this deposit has a permanent identifier"


def _functional(
    paper: PaperOnPage, root: Path, faults_of_results: Sequence[str]
) -> Iterator[tuple[str, str]]:
    artefacts = paper.artefacts
    yield (
        "evidence",
        f"{pluralise(len(artefacts), 'record')} of tables, figures and passages with their needs",
    )
    faults = check_paper(root / "published" / paper.about.key)
    yield from (("missing", fault) for fault in faults)
    if not faults:
        yield "evidence", "records and published values agree (`everycell check`)"
    tiers = [tier for artefact in artefacts for tier in artefact.tiers]
    yield from (("missing", fault) for tier in tiers for fault in tier.result.faults)
    yield from _unverified(faults_of_results)
    runs = [tier for tier in tiers if tier.receipt]
    if runs and not faults_of_results:
        seconds = sum(tier.seconds or 0 for tier in runs)
        yield (
            "evidence",
            f"{pluralise(len(runs), 'result')} with a valid receipt, made in {seconds:,.1f} s",
        )
    for artefact in artefacts:
        if artefact.state == "not run":
            needs = artefact.tiers[-1].declared.needs
            yield "missing", f"a run of {artefact.label}, which needs {needs}"
        elif artefact.state == "surrogate":
            yield "missing", f"a run of {artefact.label} on the paper's own data"
    yield "to_judge", "whether the documentation is enough for someone else to run it"


def _unverified(faults: Sequence[str]) -> Iterator[tuple[str, str]]:
    if faults:
        number = pluralise(len(faults), "fault")
        yield "missing", f"results that `everycell verify` accepts ({number}): {faults[0]}"


def _reusable(root: Path) -> Iterator[tuple[str, str]]:
    for name, holds in REUSED.items():
        kind = "evidence" if (root / name).is_file() else "missing"
        yield kind, f"{name}: {holds}"
    yield "to_judge", "whether documentation and structure go well beyond Functional"


def _reproduced(paper: PaperOnPage) -> Iterator[tuple[str, str]]:
    verdicts = paper.counts.verdicts(origin=COMPUTED)
    number = paper.counts.reproduced
    if number:
        yield (
            "evidence",
            f"{number:,} of {paper.counts.published:,} published values were computed: "
            f"{describe_verdicts(verdicts)}",
        )
    else:
        yield "missing", "a published value that was computed from data"
    for verdict in ("different", "too noisy to judge"):
        labels = [one.label for one in paper.artefacts if one.deepest and one.counts.get(verdict)]
        if number := verdicts[verdict]:
            values = pluralise(number, "value")
            yield "missing", f"an explanation of {values} {verdict}, in {', '.join(labels)}"
    if not_run := paper.counts.verdicts(origin="none").total():
        yield "missing", f"a run of {pluralise(not_run, 'published value')}"
    if surrogate := paper.counts.verdicts(origin="surrogate data").total():
        values = pluralise(surrogate, "published value")
        yield "missing", f"a run on the paper's own data of {values}, run on surrogate data only"
    claims = paper.tested_claims
    if outcomes := ", ".join(f"{count} {name}" for name, count in claims.items() if count):
        yield "evidence", f"claims tested on computed values: {outcomes}"
    if claims["contradicted"]:
        labels = [one.label for one in paper.artefacts if one.failing]
        claimed = pluralise(claims["contradicted"], "claim")
        yield "missing", f"an explanation of {claimed} contradicted, in {', '.join(labels)}"
    yield "to_judge", "whether people other than the authors made these results"
    yield "to_judge", "which of the values and claims are the main results of the paper"
