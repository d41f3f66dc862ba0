"""Each chapter's full target from its settings to verdicts and page, on small material."""

from __future__ import annotations

import json
import os

import pytest
from rehearsal.checks import CHECKS
from rehearsal.material import CHAPTERS, Stage
from workflow.endpoint_runs import KEY, check_key
from workflow.project import Project

from everycell.cli.full_tier import asked_for
from everycell.engine.artefacts import load_papers
from everycell.engine.render.page.vocabulary import page_of_chapter

SECRET = "sk-rehearsed-4711"
#: Too long for the suite, which has the path of these chapters in parts (`tests/workflow`): `make
#: rehearse` sets EVERYCELL_REHEARSE=1 and runs them too.
LONG = {
    ("full_lajewska2025_ch5", "full_lajewska2025_chB"),
    ("full_lajewska2025_ch6", "full_lajewska2025_chC"),
    ("full_abolghasemi2026_ch2",),
    ("full_abolghasemi2026_ch3",),
    ("full_abolghasemi2026_ch5",),
    ("full_heuss2025_ch3",),
}
REHEARSED = [each for each in CHAPTERS if each not in LONG or "EVERYCELL_REHEARSE" in os.environ]


@pytest.mark.slow
@pytest.mark.released
@pytest.mark.parametrize("targets", REHEARSED, ids="+".join)
def test_a_chapter_runs_to_verdicts_and_page(stage: Stage, targets: tuple[str, ...]) -> None:
    settings = CHAPTERS[targets](stage)
    (stage.folder / "mine.yaml").write_text(json.dumps(settings))
    project = Project(stage.folder, stage.mirror)
    environment = stage.hub.environment(stage.folder / "home") | {KEY: SECRET}
    done = project.snakemake(
        "--cores", "2", "--configfile", "mine.yaml", "--", *targets, env=environment
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Left out" not in done.stdout
    papers = load_papers(stage.folder / "published")
    for target in targets:
        artefacts = asked_for(papers, target)[1]
        assert artefacts
        for artefact in artefacts:
            report = project.verdicts(artefact.id, "full")
            assert report["state"] == artefact.card.tiers["full"].state
            page = stage.folder / "results" / page_of_chapter(artefact.paper, artefact.chapter)
            assert f"full/{artefact.id}." in page.read_text(encoding="utf-8")
    if check := CHECKS.get(targets[0]):
        check(project, stage)
    check_key(project, stage.endpoint, SECRET)
    done = project.everycell("verify")
    assert done.returncode == 0, done.stdout
