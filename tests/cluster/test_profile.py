"""The profile for clusters, against the rules and against its page; no Slurm is needed."""

import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import snakemake_executor_plugin_slurm as plugin
import yaml
from workflow.project import Project, copy_tree

REPOSITORY = Path(__file__).resolve().parents[2]
PROFILE = yaml.safe_load((REPOSITORY / "profiles/slurm/config.yaml").read_text())
PAGE = (REPOSITORY / "docs" / "clusters.md").read_text(encoding="utf-8")
#: MB that each first attempt gets on top of what its script takes.
SNAKEMAKE_MEMORY = 500


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_tree(tmp_path_factory.mktemp("profile") / "project")


@pytest.fixture(scope="module")
def rules(project):
    """Rules that run a script, by name, without the parents that they inherit from."""
    return {
        rule.name: rule
        for rule in project.rules()
        if rule.output and not any("/none" in str(file) for file in rule.output)
    }


#: Of the searches, tiers, classifiers and data sets the largest.
LARGEST = SimpleNamespace(
    ranker="ance",
    tier="full",
    classifier="full",
    model="zephyr",
    source="rag24/zephyr",
    data="mslr_web10k",
)


def resources(rule, attempt: int, wildcards: SimpleNamespace = LARGEST) -> dict[str, int]:
    """Memory, minutes and GPUs that an attempt asks for."""
    result = {
        name: rule.resources[name]
        for name in ("mem_mb", "runtime", "gpu")
        if name in rule.resources
    }
    return {"gpu": 0} | {
        name: (one.evaluate(wildcards, attempt=attempt) if one.is_evaluable() else one).value
        for name, one in result.items()
    }


def test_retries_memory(rules):
    assert PROFILE["retries"] == 2
    for name, rule in rules.items():
        first, second, third = (resources(rule, attempt)["mem_mb"] for attempt in (1, 2, 3))
        assert first > SNAKEMAKE_MEMORY, name
        assert (second, third) == (2 * first, 3 * first), f"{name}: write mem_mb=memory(...)"


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("abolghasemi2026_ch3_train", (3000, 60)),
        ("answerability_train", (3000, 60)),
        ("answerability_score", (2000, 20)),
    ],
)
def test_training_gpu_and_memory(rules, name, small):
    full, surrogate = resources(rules[f"{name}_full"], 1), resources(rules[name], 1)
    assert full == {"mem_mb": 24000 + SNAKEMAKE_MEMORY, "runtime": 2880, "gpu": 1}
    assert surrogate == {"mem_mb": small[0] + SNAKEMAKE_MEMORY, "runtime": small[1], "gpu": 0}


def test_profile_settings():
    source = Path(plugin.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in source.glob("*.py"))
    names = [name.removeprefix("slurm-") for name in PROFILE if name.startswith("slurm-")]
    assert names
    unread = [name for name in names if f".{name.replace('-', '_')}" not in code]
    assert not unread


def test_profile_groups(rules):
    groups = PROFILE["groups"]
    assert set(groups) <= set(rules), (
        "a rule was renamed or removed: correct `groups` of the profile"
    )
    assert set(groups.values()) == set(PROFILE["group-components"])
    for name in groups:
        needs = resources(rules[name], 1)
        assert needs["mem_mb"] <= 2500 and needs["runtime"] <= 20 and not needs["gpu"], name


@pytest.mark.slow
def test_profile_jobs_of_scheduler(project, rules):
    # Snakemake refuses groups that would wait for themselves.
    jobs = project.planned("--workflow-profile", "slurm", "--executor", "dryrun", "--", "released")
    components = PROFILE["group-components"]
    parts = dict.fromkeys(components, 0)
    sent = 0
    for name, number in jobs.items():
        if name in PROFILE["groups"]:
            parts[PROFILE["groups"][name]] += number
        elif name in rules and name != "page" and not name.startswith("fetch"):
            sent += number
    assert parts["verdicts"] > 30
    sent += sum(math.ceil(number / components[group]) for group, number in parts.items())
    assert sent < sum(jobs.values()) / 2


def test_clusters_page_heavy_rules(rules):
    lines = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d*) ?\|", PAGE, re.MULTILINE)
    message = {
        name: {"mem_mb": int(mb) + SNAKEMAKE_MEMORY, "runtime": int(minutes), "gpu": int(gpus or 0)}
        for name, mb, minutes, gpus in lines
    }
    needed = {name: resources(rule, 1) for name, rule in rules.items()}
    heavy = {
        name: needs
        for name, needs in needed.items()
        if needs["mem_mb"] >= 4000 + SNAKEMAKE_MEMORY or needs["runtime"] >= 60 or needs["gpu"]
    }
    assert len(heavy) > 20
    assert message == heavy, "docs/clusters.md, What the heavy rules need, differs from the rules"
