"""Models of the Hugging Face hub, or of a mirror that ``HF_ENDPOINT`` names.

Only configuration, tokenizer and safetensors are taken: never code, and a pickle only for
`everycell.learning.pickle_weights`, which converts it. They lie in the hub's own cache
(``HF_HOME``), under the commit that they are of.
"""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Sequence
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

logger = logging.getLogger(__name__)

#: What is taken of a repository.
FILES = (
    ["*.safetensors", "*.safetensors.index.json", "*config.json", "vocab.txt", "merges.txt"]
    + [f"{name}.json" for name in ("tokenizer", "special_tokens_map", "added_tokens", "vocab")]
    + ["chat_template.jinja", "additional_chat_templates/*.jinja", "*.model"]
)
#: Weights that are a pickle, whole or in parts.
PICKLES = ["pytorch_model*.bin", "pytorch_model.bin.index.json"]
#: The same weights once more, in a form of their makers' own (Mistral: 15 GB).
TWICE = ["consolidated*"]
_BY_HAND = "or download it elsewhere and give its folder"


class ModelError(Exception):
    """A model cannot be loaded or used; the message says what to do."""


def cached_folder(name: str, revision: str | None = None) -> Path | None:
    """Folder of a model in the local cache of the hub; None where the cache has none of it."""
    try:
        return Path(
            snapshot_download(
                name,
                revision=revision,
                local_files_only=True,
                allow_patterns=FILES,
                ignore_patterns=TWICE,
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
    """Folder of a model with all files that the hub has, downloaded where they are not yet."""
    hub = constants.ENDPOINT
    what = f"The model {name}" + (f" at {revision}" if revision else "")
    try:
        folder = Path(
            snapshot_download(
                name, revision=revision, allow_patterns=list(files), ignore_patterns=TWICE
            )
        )
    except GatedRepoError as error:
        raise ModelError(
            f"{what} is given only to those who accepted its terms: accept them on {hub}/{name}, "
            "and put a token of yours that may read it into the environment variable HF_TOKEN."
        ) from error
    except RevisionNotFoundError as error:
        raise ModelError(
            f"{hub} has no revision {revision!r} of {name}: give a commit, tag or branch that its "
            "page lists, or null for the main branch."
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"{hub} knows no model {name}, or does not show it without a token: correct the name, "
            "or put a token of yours that may read it into the environment variable HF_TOKEN."
        ) from error
    except OfflineModeIsEnabled as error:
        raise ModelError(
            f"{what} is not in the local cache of the hub, and HF_HUB_OFFLINE is set: unset it, "
            f"{_BY_HAND}."
        ) from error
    # A page of a proxy in place of JSON is a ValueError; the library has no one base of its errors.
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError, ValueError, KeyError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelError(
                f"{what} does not fit into {constants.HF_HUB_CACHE}: make room there, or name "
                "another disk in the environment variable HF_HOME."
            ) from error
        raise ModelError(
            f"{what} could not be downloaded from {hub} ({_first_line(error)}): check its name, "
            f"its revision and the network, {_BY_HAND}."
        ) from error
    logger.info("%s is of commit %s of %s.", what, commit_of(folder), hub)
    return folder


def commit_of(folder: Path) -> str | None:
    """Commit that a folder of the hub's cache is of; None of any other folder."""
    is_commit = folder.parent.name == "snapshots" and re.fullmatch("[0-9a-f]{40}", folder.name)
    return folder.name if is_commit else None


def _first_line(error: BaseException) -> str:
    """What an error says, without the numbers of requests that its further lines have."""
    token = os.environ.get("HF_TOKEN")
    line = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(". ")
    return line.replace(token, "...") if token else line
