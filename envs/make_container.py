"""Write envs/Dockerfile from the conda files: ``python envs/make_container.py``.

Snakemake generates it (``--containerize``). It omits post-deploy scripts, although the hashes of
environments include them, so this script adds commands that run them. It also sets a fixed version
of miniforge and a non-root user. Snakemake only needs the version of conda, so a fake conda replies
and the file can be generated without conda.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ENVS = Path(__file__).parent
#: Base image in Snakemake's output, and the fixed version that replaces it.
NEWEST, BASE = "condaforge/miniforge3:latest", "condaforge/miniforge3:26.1.1-3"
CONDA = """\
#!/bin/sh
case "$1" in
info) echo '{"conda_version": "24.11.0", "root_prefix": "/opt/conda", "conda_prefix": "/opt/conda",
  "env_vars": {}, "channels": [], "platform": "linux-64", "user_agent": "fake"}' ;;
config) echo '{"get": {"channel_priority": "strict"}}' ;;
--version) echo "conda 24.11.0" ;;
*) echo "This fake conda supports only the calls of --containerize, not: $*" >&2; exit 1 ;;
esac
"""


def snakemake_dockerfile(project: Path) -> str:
    """Return the Dockerfile that Snakemake generates for the workflow in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        fake_conda = Path(folder) / "conda"
        fake_conda.write_text(CONDA, encoding="utf-8")
        fake_conda.chmod(0o755)
        path = os.pathsep.join([folder, str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["snakemake", "--containerize"],
            cwd=project,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout


def add_post_deploy(dockerfile: str, envs: Path) -> str:
    """Return a Dockerfile that also runs the post-deploy scripts of its environments."""
    lines = [dockerfile.rstrip("\n")]
    for name, prefix in re.findall(
        r"^COPY envs/(\S+)\.yaml (\S+)/environment\.yaml$", dockerfile, re.M
    ):
        script = f"{name}.post-deploy.sh"
        if (envs / script).exists():
            lines.append(f"COPY envs/{script} {prefix}/post-deploy.sh")
            lines.append(f"RUN conda run --prefix {prefix} bash {prefix}/post-deploy.sh")
    return "\n".join(lines) + "\n"


def set_base_and_user(dockerfile: str) -> str:
    """Return a Dockerfile with the base image as a build argument, and with a non-root user."""
    before, base, after = dockerfile.partition(f"FROM {NEWEST}\n")
    if before or not base:
        raise SystemExit(f"Snakemake's Dockerfile does not start with {NEWEST}; update {__file__}.")
    user = "RUN useradd --create-home everycell\nUSER everycell\n"
    return f"ARG BASE={BASE}\nFROM ${{BASE}}\n{after}{user}"


def container_file(project: Path) -> str:
    """Return the Dockerfile of the workflow in a folder."""
    return set_base_and_user(add_post_deploy(snakemake_dockerfile(project), project / "envs"))


def main() -> None:
    (ENVS / "Dockerfile").write_text(container_file(ENVS.parent), encoding="utf-8")


if __name__ == "__main__":
    main()
