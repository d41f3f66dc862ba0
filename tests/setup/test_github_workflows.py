"""GitHub workflows of this repository, and the one that new repositories get, fit their schema."""

import subprocess
import sys

import pytest
from harness import REPOSITORY

from everycell.base.yaml import load_yaml
from everycell.workflow import FOLDER

TEMPLATE = FOLDER / "templates/github_workflow.yml"
CHECK = ("--builtin-schema", "vendor.github-workflows")


def check(path) -> int:
    """Exit code of the linter, which is in the environment of the tests."""
    command = [sys.executable, "-m", "check_jsonschema", *CHECK, str(path)]
    return subprocess.run(command, capture_output=True, text=True).returncode


@pytest.mark.parametrize(
    "path",
    [TEMPLATE, *sorted((REPOSITORY / ".github/workflows").glob("*.yml"))],
    ids=lambda p: p.name,
)
def test_workflows_fit_schema(path, tmp_path):
    assert check(path) == 0
    broken = tmp_path / path.name
    broken.write_text(path.read_text(encoding="utf-8").replace("runs-on:", "run-on:"))
    assert check(broken) != 0


def test_template_actions():
    uses = [
        {
            step["uses"]
            for job in load_yaml(path.read_text(encoding="utf-8"))["jobs"].values()
            for step in job["steps"]
            if "uses" in step
        }
        for path in (TEMPLATE, *(REPOSITORY / ".github/workflows").glob("*.yml"))
    ]
    assert uses[0] and uses[0] <= set.union(*uses[1:])
