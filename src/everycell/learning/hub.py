"""Models from the Hugging Face hub, or from a mirror set in ``HF_ENDPOINT``.

Only configuration, tokenizer and safetensors are downloaded: never code, and pickles only for
`everycell.learning.pickle_weights`, which converts them. The files are in the hub's cache
(``HF_HOME``), by commit.
"""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from transformers.utils import logging as transformers_logging

logger = logging.getLogger(__name__)

#: Files of a repository that are downloaded.
FILES = (
    ["*.safetensors", "*.safetensors.index.json", "*config.json", "vocab.txt", "merges.txt"]
    + [f"{name}.json" for name in ("tokenizer", "special_tokens_map", "added_tokens", "vocab")]
    + ["chat_template.jinja", "additional_chat_templates/*.jinja", "*.model"]
)
#: Pickled weights, in one file or several.
PICKLES = ["pytorch_model*.bin", "pytorch_model.bin.index.json"]
#: Copies of the weights in the provider's own format (Mistral: 15 GB), which are not downloaded.
DUPLICATES = ["consolidated*"]
_BY_HAND = "or download the model elsewhere and give its folder"


class ModelError(Exception):
    """A model cannot be loaded or used."""


def cached_folder(name: str, revision: str | None = None) -> Path | None:
    """Folder of a model in the local cache of the hub; None if it is not cached."""
    try:
        return Path(
            snapshot_download(
                name,
                revision=revision,
                local_files_only=True,
                allow_patterns=FILES,
                ignore_patterns=DUPLICATES,
            )
        )
    except HFValidationError as error:
        raise ModelError(
            f"{name!r} is not the name of a hub model (such as 'org/model'): give a folder as a "
            "Path."
        ) from error
    except LocalEntryNotFoundError:
        return None


def download_model(name: str, revision: str | None = None, *, files: Sequence[str] = FILES) -> Path:
    """Download the files of a model that are not cached, and return its folder."""
    hub = constants.ENDPOINT
    what = f"The model {name}" + (f" at {revision}" if revision else "")
    try:
        folder = Path(
            snapshot_download(
                name, revision=revision, allow_patterns=list(files), ignore_patterns=DUPLICATES
            )
        )
    except GatedRepoError as error:
        raise ModelError(
            f"{what} is available only to users who have accepted its terms: accept them on "
            f"{hub}/{name}, and set the environment variable HF_TOKEN to a token with read access."
        ) from error
    except RevisionNotFoundError as error:
        raise ModelError(
            f"{hub} has no revision {revision!r} of {name}: give a commit, tag or branch that its "
            "page lists, or null for the main branch."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"{hub} has no model {name}, or requires a token to show it: correct the name, or set "
            "the environment variable HF_TOKEN to a token with read access."
        ) from error
    except OfflineModeIsEnabled as error:
        raise ModelError(
            f"{what} is not in the local cache of the hub, and HF_HUB_OFFLINE is set: unset it, "
            f"{_BY_HAND}."
        ) from error
    # A proxy's page instead of JSON raises a ValueError; the library's errors have no common base.
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError, ValueError, KeyError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelError(
                f"{what} does not fit into {constants.HF_HUB_CACHE}: free some space, or set the "
                "environment variable HF_HOME to a folder on another disk."
            ) from error
        raise ModelError(
            f"{what} could not be downloaded from {hub} ({_first_line(error)}): check its name, "
            f"its revision and the network, {_BY_HAND}."
        ) from error
    logger.info("%s: commit %s from %s.", what, commit_of(folder), hub)
    return folder


def commit_of(folder: Path) -> str | None:
    """Commit of a folder in the hub's cache; None for any other folder."""
    is_commit = folder.parent.name == "snapshots" and re.fullmatch("[0-9a-f]{40}", folder.name)
    return folder.name if is_commit else None


def _first_line(error: BaseException) -> str:
    """First line of an error without the token; later lines contain ids of requests."""
    token = os.environ.get("HF_TOKEN")
    line = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(". ")
    return line.replace(token, "...") if token else line


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress progress bars and reports of transformers; callers check the results."""
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()
