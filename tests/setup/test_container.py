"""The containers: they follow the locks, every environment is whole, and a workflow tries them."""

import re
from pathlib import Path

import pytest
from harness import load_script
from workflow.project import Project, copy_tree

from everycell.base.yaml import load_yaml

REPOSITORY = Path(__file__).resolve().parents[2]
ENVS = REPOSITORY / "envs"

make_container = load_script("envs/make_container.py")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_tree(tmp_path_factory.mktemp("container") / "project")


@pytest.mark.slow
def test_container_file(project):
    created = make_container.container_file(project.folder)
    result = (ENVS / "Dockerfile").read_text(encoding="utf-8")
    assert result == created, (
        "envs/Dockerfile differs from the conda files: run envs/make_container.py."
    )


def test_container_environments():
    text = (ENVS / "Dockerfile").read_text(encoding="utf-8")
    copied = dict(
        re.findall(r"^COPY envs/(\w+)\.yaml (\S+)/environment\.yaml$", text, re.MULTILINE)
    )
    assert set(copied) == {path.stem for path in ENVS.glob("*.yaml")}
    for name, prefix in copied.items():
        assert f"conda env create --prefix {prefix} --file {prefix}/environment.yaml" in text
        finished = f"RUN conda run --prefix {prefix} bash {prefix}/post-deploy.sh\n" in text
        assert finished == (ENVS / f"{name}.post-deploy.sh").exists()


@pytest.mark.parametrize("path", ["Dockerfile", "envs/Dockerfile"])
def test_container_base_and_user(path):
    lines = (REPOSITORY / path).read_text(encoding="utf-8").splitlines()
    instructions = [line for line in lines if re.match(r"[A-Z]+ ", line)]
    assert re.fullmatch(r"ARG BASE=[\w/]+:\d+\.\d+\.\d+-\w+", instructions[0])
    assert [line for line in instructions if line.startswith("FROM ")] == ["FROM ${BASE}"]
    assert [line for line in instructions if line.startswith("USER ")] == ["USER everycell"]


def test_container_workflow():
    jobs = load_yaml((REPOSITORY / ".github/workflows/container.yml").read_text("utf-8"))["jobs"]
    commands = [[step["run"] for step in job["steps"] if "run" in step] for job in jobs.values()]
    builds = [build for build, *_ in commands]
    assert builds == [
        "docker build --tag everycell .",
        "docker build --file envs/Dockerfile --tag environments .",
    ]
    for build, *tries in commands:
        image = re.search(r"--tag (\w+)", build)[1]
        assert tries and all(re.match(rf"docker run .* {image} sh -ec ", run) for run in tries)


def test_dockerignore():
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in (REPOSITORY / ".gitignore").read_text(encoding="utf-8").splitlines():
        if line.startswith("/"):
            assert line.strip("/") in ignored, line


def test_add_post_deploy(tmp_path):
    (tmp_path / "two.post-deploy.sh").touch()
    text = "COPY envs/one.yaml /c/1/environment.yaml\nCOPY envs/two.yaml /c/2/environment.yaml\n"
    assert make_container.add_post_deploy(text, tmp_path) == (
        f"{text}COPY envs/two.post-deploy.sh /c/2/post-deploy.sh\n"
        "RUN conda run --prefix /c/2 bash /c/2/post-deploy.sh\n"
    )


@pytest.mark.slow
def test_snakemake_container_of_configuration(project):
    command = ("-n", "--sdm", "apptainer", "--", "sakai2023")
    without = project.snakemake(*command)
    assert without.returncode == 0, without.stdout
    project.edit("config.yaml", "container: null", "container: everycell.sif")
    # The image is looked for as soon as containers are asked for, and so is apptainer.
    done = project.snakemake(*command)
    assert done.returncode != 0
    assert "everycell.sif" in done.stdout or "apptainer" in done.stdout
