"""What the tests and the doctests of the library share: temporary files, numbers of examples."""

import gc
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

# No property test fails because the machine was busy. `make test-quick` tries fewer examples, but
# where a test says how many.
settings.register_profile("everycell", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("everycell")

#: Snakemake runs these; they are no modules with doctests.
collect_ignore_glob = ["src/everycell/workflow/scripts/*"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage until all tests are collected, nor later among what then stays.

    Imports and ten thousand tests leave little of it; to look for it takes a third of the time, and
    libraries ask for that later too.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Put what code leaves in the temporary folder where pytest removes it after the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
        # Python looks at the variable once.
        patch.setattr(tempfile, "tempdir", None)
        yield
