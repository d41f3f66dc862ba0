"""The blocks of docs/run-in-full.md: a dry run of exactly each, which the doctor finds complete."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import call
from harness import published
from workflow.project import Project

from everycell.config import read_config
from everycell.records.full_runs import load_full_tier, required_files, runs_in_full, setting_value
from everycell.records.papers import all_artefacts, load_papers

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs/run-in-full.md"
BLOCK = re.compile(r"```yaml\n# mine\.yaml\n(.+?)```\n\n```bash\n(.+?)```", re.DOTALL)
#: Placeholders of folders and files in the blocks.
BROUGHT = re.compile(r"data/.+")


def blocks() -> list[tuple[str, list[list[str]]]]:
    """Settings and commands of each block of the page."""
    result = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [(settings, list(map(shlex.split, run.splitlines()))) for settings, run in result]


def targets(command: list[str]) -> list[str]:
    return [word for word in command if word.startswith("full_")]


def put_placeholders(folder: Path) -> None:
    """Write empty files and folders where the project's settings name those of a user."""
    settings = read_config(folder / "config.yaml", folder / "mine.yaml")
    tier = load_full_tier(folder / "published", load_papers(folder / "published"))
    for material in tier.materials.values():
        for key in material.settings:
            value = setting_value(settings, key)
            if not value or not BROUGHT.fullmatch(value):
                continue
            names = (
                name.partition("|")[0].replace("*", "")
                for name in required_files(settings, material)
            )
            paths = [f"{value}/{name}" for name in names]
            if value.startswith("data/models/"):
                paths = [f"{value}/{name}" for name in ("config.json", "model.safetensors")]
            for name in paths or [value]:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).touch()


@pytest.fixture(scope="module")
def copy(tree: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return tree.copy_to(tmp_path_factory.mktemp("full") / "project")


def test_run_in_full_chapters() -> None:
    result = {target for _, commands in blocks() for target in targets(commands[-1])}
    papers = published()
    chapters = {
        f"full_{artefact.paper}_ch{artefact.chapter}"
        for artefact in filter(runs_in_full, all_artefacts(papers))
    }
    # A paper of one chapter is named without it.
    assert result == {
        name.replace("full_abolghasemi2024_ch1", "full_abolghasemi2024") for name in chapters
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "commands"),
    [pytest.param(*block, id=targets(block[1][-1])[0]) for block in blocks()],
)
def test_run_in_full_block(
    copy: Project, settings: str, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy.folder / "mine.yaml").write_text(settings, encoding="utf-8")
    put_placeholders(copy.folder)
    *prepare, check, plan, run = commands
    # Models in `data/models` are converted by the commands before.
    assert all(command[:3] == ["everycell", "data", "convert-weights"] for command in prepare)
    converted = sorted(command[4] for command in prepare)
    assert sorted(re.findall(r"data/models/[\w.-]+", settings)) == converted
    assert check[:3] == ["everycell", "doctor", "--full"]
    assert plan[:2] == ["snakemake", "-n"] and targets(plan) == targets(run)
    assert f"full_{check[3]}" == targets(plan)[0]
    done = copy.run(*plan)
    assert done.returncode == 0, done.stdout
    for target in targets(plan):
        result, known = re.search(rf"`{target}` makes (\d+) of (\d+)", done.stdout).groups()
        assert result == known
    # This machine may lack a GPU, a key or a network; of the block nothing may be missing.
    monkeypatch.chdir(copy.folder)
    message = call(*check[1:])[1].splitlines()[-1]
    assert re.match(rf"{targets(plan)[0]} can(not)? start", message), message
    stated = message.replace("set network: true", "").replace("set a mirror (HF_ENDPOINT)", "")
    assert " set " not in stated and " put " not in stated
    # The run has the settings and targets of the dry run.
    assert run[:2] == ["snakemake", "--cores"] and run[-len(targets(run)) - 1] == "--"
    assert run[run.index("--configfile") + 1] == plan[plan.index("--configfile") + 1]


def test_run_in_full_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    monkeypatch.chdir(REPOSITORY)
    from make_run_in_full import render

    text = PAGE.read_text(encoding="utf-8")
    assert render(text) == text, "run python docs/make_run_in_full.py"
