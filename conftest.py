"""Shared configuration of tests and doctests: temporary files and numbers of examples."""

import gc
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No deadline, so that no property test fails on a busy machine. `make test-quick` tries fewer
# examples, unless a test sets their number.
settings.register_profile("everycell", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("everycell")

#: Scripts for Snakemake, which cannot be imported for doctests.
collect_ignore_glob = ["src/everycell/workflow/scripts/*"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Disable garbage collection during test collection, and exclude collected objects later.

    Imports and ten thousand tests leave little garbage, but searching for it takes a third of the
    time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Move the temporary folder to a folder that pytest deletes after the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
        # Python caches the variable.
        patch.setattr(tempfile, "tempdir", None)
        yield
