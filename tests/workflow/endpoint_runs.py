"""Runs that ask a server of the test for answers, and are killed while it keeps them waiting."""

from __future__ import annotations

import os
import signal
import threading

from language_model_server import Server
from workflow.project import Project

#: Variable that the configuration names for the key of the endpoint `mine`.
KEY = "EVERYCELL_TEST_KEY"
# Seconds after which a run that should wait for the server is taken for stuck elsewhere.
_PATIENCE = 600


def name_endpoint(project: Project, server: Server) -> None:
    """Make the server the endpoint `mine` of a project."""
    settings = server.settings(workers=1, key=KEY).model_dump(mode="json")
    project.configure({"language_models": {"endpoints": {"mine": settings}}})


def kill_at(stuck: threading.Event, project: Project, target: str) -> None:
    """Build a target until the server does not answer, then kill Snakemake and its jobs."""
    process = project.start("snakemake", "--cores", "1", target)
    try:
        assert stuck.wait(_PATIENCE)
    finally:
        # They are of one group.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert not (project.folder / target).exists()


def go_on(project: Project, target: str) -> None:
    """Build a target after its run was killed."""
    assert project.snakemake("--unlock").returncode == 0
    project.build("--cores", "1", target)


def check_key(project: Project, server: Server, key: str) -> None:
    """Check that the key was sent with each request, and that no file has it."""
    assert all(headers["Authorization"] == f"Bearer {key}" for *_, headers in server.seen)
    for path in project.folder.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path
