"""Each chapter's full target from its settings to verdicts and page, on small material."""

from __future__ import annotations

import json
import os
import re
from importlib import import_module

import pytest
from rehearsal.checks import CHECKS
from rehearsal.stage import Stage
from rehearsal.targets import CHAPTERS, IN_THE_SUITE
from workflow.endpoint_runs import KEY, check_key
from workflow.project import Project

from everycell.cli.full_tier import select_full
from everycell.records.papers import load_papers
from everycell.render.vocabulary import page_of_chapter

SECRET = "sk-rehearsed-4711"
REHEARSED = [
    name for name in CHAPTERS if name in IN_THE_SUITE or "EVERYCELL_REHEARSE" in os.environ
]


@pytest.mark.slow
@pytest.mark.released
@pytest.mark.parametrize("targets", REHEARSED, ids="+".join)
def test_full_tier_of_chapter(stage: Stage, targets: tuple[str, ...]) -> None:
    module, function = CHAPTERS[targets]
    write_material = getattr(import_module(f"rehearsal.{module}"), function)
    assert "In published form: " in write_material.__doc__
    settings = write_material(stage)
    (stage.folder / "mine.yaml").write_text(json.dumps(settings))
    stage.believe()
    project = Project(stage.folder, stage.mirror)
    environment = stage.hub.environment(stage.folder / "home") | {KEY: SECRET}
    done = project.snakemake(
        "--cores", "2", "--configfile", "mine.yaml", "--", *targets, env=environment
    )
    assert done.returncode == 0, done.stdout[-6000:]
    # A target of one artefact makes it or fails; of several, it makes what the settings allow.
    counts = re.findall(r"`(\w+)` makes (\d+) of (\d+)", done.stdout)
    assert {target for target, _, _ in counts} == {name for name in targets if "_t" not in name}
    assert all(number == known for _, number, known in counts)
    papers = load_papers(stage.folder / "published")
    for target in targets:
        artefacts = select_full(papers, target)[1]
        assert artefacts
        for artefact in artefacts:
            report = project.verdicts(artefact.id, "full")
            assert report["state"] == artefact.record.tiers["full"].state
            page = stage.folder / "results" / page_of_chapter(artefact.paper, artefact.chapter)
            assert f"full/{artefact.id}." in page.read_text(encoding="utf-8")
    if check := CHECKS.get(targets[0]):
        check(project, stage)
    check_key(project, stage.endpoint, SECRET)
    done = project.everycell("verify", "--configfile", "mine.yaml")
    assert done.returncode == 0, done.stdout
