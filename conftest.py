"""What the tests and the doctests of the library share: where temporary files go."""

import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Put what code leaves in the temporary folder where pytest removes it after the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("tmp")))
        # Python looks at the variable once.
        patch.setattr(tempfile, "tempdir", None)
        yield
