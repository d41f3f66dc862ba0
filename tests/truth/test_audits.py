"""Audits succeed on the published numbers, and fail once the cells are corrected.

What a mended or broken cell is, says ``audit_cases/KEY.py`` for the audits of a paper.
"""

from importlib import import_module
from pathlib import Path

import pytest
from truth.audit_cases.edits import PUBLISHED, Edit, edited

from everycell.records.papers import all_artefacts, load_papers
from everycell.verdicts.audits import (
    CONSISTENCY,
    INCONSISTENCY,
    Audit,
    audits_of,
    cells_of,
    run_audit,
)

PAPERS = load_papers(PUBLISHED)
#: Paper, chapter and audit by name.
AUDITS: dict[str, tuple[str, str, Audit]] = {
    name: (key, chapter, audit)
    for key, paper in PAPERS.items()
    for chapter in paper.chapters
    for name, audit in audits_of(key, chapter).items()
}


def cases(kind: str) -> dict:
    """Cases of one kind of all papers, by the name of their audit."""
    files = sorted((Path(__file__).parent / "audit_cases").glob("*.py"))
    modules = [
        import_module(f"truth.audit_cases.{file.stem}") for file in files if file.stem in PAPERS
    ]
    return {name: case for module in modules for name, case in getattr(module, kind, {}).items()}


MENDED: dict[str, list[Edit]] = cases("MENDED")
#: Edits that make another fault than the one that an audit names.
OTHER_FAULTS: dict[str, list[Edit]] = cases("OTHER_FAULTS")
BROKEN: dict[str, Edit] = cases("BROKEN")


def on_edited(name: str, *edits: Edit) -> bool:
    """Whether an audit has its finding after some cells are changed."""
    paper, _, audit = AUDITS[name]
    return audit(edited(cells_of(paper, PUBLISHED), *edits)).holds


@pytest.mark.parametrize("name", AUDITS)
def test_audit_on_published_cells(name: str) -> None:
    paper, _, audit = AUDITS[name]
    finding = run_audit(audit, paper, PUBLISHED)
    assert finding.holds, finding.detail


@pytest.mark.parametrize("name", MENDED)
def test_audit_on_corrected_cells(name: str) -> None:
    assert not on_edited(name, *MENDED[name])


@pytest.mark.parametrize("name", OTHER_FAULTS)
def test_audit_on_other_faults(name: str) -> None:
    """A difference of any size is not a doubled value."""
    assert not on_edited(name, *OTHER_FAULTS[name])


@pytest.mark.parametrize("name", BROKEN)
def test_check_on_a_wrong_digit(name: str) -> None:
    paper, _, audit = AUDITS[name]
    finding = audit(edited(cells_of(paper, PUBLISHED), BROKEN[name]))
    assert not finding.holds
    assert finding.detail != run_audit(audit, paper, PUBLISHED).detail


def test_audits_have_cases() -> None:
    inconsistencies = {name for name in AUDITS if name.startswith(INCONSISTENCY)}
    assert set(MENDED) == inconsistencies
    assert set(BROKEN) == {name for name in AUDITS if name.startswith(CONSISTENCY)}


def test_audits_of_all_modules() -> None:
    folder, suffix = PUBLISHED.parent / "workflow/papers", "_audits.py"
    modules = {path.relative_to(folder).as_posix() for path in folder.rglob(f"*{suffix}")}
    existing = {Path(name.removesuffix(suffix)) for name in modules}
    result = {Path(paper) / f"ch{chapter}" for paper, chapter, _ in AUDITS.values()}
    assert existing == result


def test_audits_named_after_their_paper() -> None:
    assert {name for name, (paper, *_) in AUDITS.items() if name.split("_")[1] != paper} == set()


def test_audits_of_errata() -> None:
    for artefact in all_artefacts(PAPERS):
        for name in [erratum.audit for erratum in artefact.record.errata if erratum.audit]:
            assert name.startswith(INCONSISTENCY)
            assert AUDITS[name][:2] == (artefact.paper, artefact.chapter), name


def test_inconsistencies_are_errata() -> None:
    names = {
        erratum.audit for artefact in all_artefacts(PAPERS) for erratum in artefact.record.errata
    }
    assert {name for name in AUDITS if name.startswith(INCONSISTENCY)} <= names
