"""Write envs/Dockerfile from the conda files of this folder: ``python envs/make_container.py``.

Snakemake makes it (``--containerize``). It leaves post-deploy scripts out, although it finds the
environments of the image by a hash that holds them; so they are run here, after their environment
was made. It also names the newest miniforge and stays root, which is changed here. Snakemake asks
conda for its version only, and a stand-in answers, so that the file can be made where no conda is.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ENVS = Path(__file__).parent
#: Image that Snakemake begins with, and the tag of a version in its place.
NEWEST, BASE = "condaforge/miniforge3:latest", "condaforge/miniforge3:26.1.1-3"
CONDA = """\
#!/bin/sh
case "$1" in
info) echo '{"conda_version": "24.11.0", "root_prefix": "/opt/conda", "conda_prefix": "/opt/conda",
  "env_vars": {}, "channels": [], "platform": "linux-64", "user_agent": "stand-in"}' ;;
config) echo '{"get": {"channel_priority": "strict"}}' ;;
--version) echo "conda 24.11.0" ;;
*) echo "This conda only answers what --containerize asks, which is not: $*" >&2; exit 1 ;;
esac
"""


def containerized(project: Path) -> str:
    """Return what Snakemake writes for the workflow in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder) / "conda"
        stand_in.write_text(CONDA, encoding="utf-8")
        stand_in.chmod(0o755)
        path = os.pathsep.join([folder, str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["snakemake", "--containerize"],
            cwd=project,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout


def with_post_deploy(dockerfile: str, envs: Path) -> str:
    """Return a Dockerfile that runs the post-deploy script of each of its environments."""
    lines = [dockerfile.rstrip("\n")]
    for name, prefix in re.findall(
        r"^COPY envs/(\S+)\.yaml (\S+)/environment\.yaml$", dockerfile, re.M
    ):
        script = f"{name}.post-deploy.sh"
        if (envs / script).exists():
            lines.append(f"COPY envs/{script} {prefix}/post-deploy.sh")
            lines.append(f"RUN conda run --prefix {prefix} bash {prefix}/post-deploy.sh")
    return "\n".join(lines) + "\n"


def with_base_and_user(dockerfile: str) -> str:
    """Return a Dockerfile whose base is a build argument, and whose image is not run by root."""
    before, base, after = dockerfile.partition(f"FROM {NEWEST}\n")
    if before or not base:
        raise SystemExit(f"Snakemake's Dockerfile does not begin with {NEWEST}: adapt {__file__}.")
    user = "RUN useradd --create-home everycell\nUSER everycell\n"
    return f"ARG BASE={BASE}\nFROM ${{BASE}}\n{after}{user}"


def container_file(project: Path) -> str:
    """Return the Dockerfile of the workflow in a folder."""
    return with_base_and_user(with_post_deploy(containerized(project), project / "envs"))


def main() -> None:
    (ENVS / "Dockerfile").write_text(container_file(ENVS.parent), encoding="utf-8")


if __name__ == "__main__":
    main()
