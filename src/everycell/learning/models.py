"""Models from folders and from the Hugging Face hub, or from a mirror set in ``HF_ENDPOINT``.

Only configuration, tokenizer and safetensors are downloaded: never code, and pickles only for
`everycell.learning.pickle_weights`, which converts them, because reading a pickle can run code. The
files are in the hub's cache (``HF_HOME``), by commit. Nothing is downloaded unless a call allows
it.
"""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
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
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BertPreTrainedModel,
    BertTokenizerFast,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from everycell.base.errors import DataError
from everycell.base.untrusted import on_one_line, without_user
from everycell.learning.model_settings import (
    check_growth,
    check_parts,
    check_size,
    check_tokenizer,
    read_settings,
)
from everycell.learning.tildev2 import TildeV2
from everycell.sources.proxies import check_proxies

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
    # The address of a mirror may contain a password.
    hub = without_user(constants.ENDPOINT)
    what = f"The model {name}" + (f" at {revision}" if revision else "")
    check_proxies()
    try:
        folder = Path(
            snapshot_download(
                name, revision=revision, allow_patterns=list(files), ignore_patterns=DUPLICATES
            )
        )
    # The causes may quote the address of a mirror, and a traceback would show them.
    except GatedRepoError:
        raise ModelError(
            f"{what} is available only to users who have accepted its terms: accept them on "
            f"{hub}/{name}, and set the environment variable HF_TOKEN to a token with read access."
        ) from None
    except RevisionNotFoundError:
        raise ModelError(
            f"{hub} has no revision {revision!r} of {name}: give a commit, tag or branch that its "
            "page lists, or null for the main branch."
        ) from None
    except RepositoryNotFoundError:
        raise ModelError(
            f"{hub} has no model {name}, or requires a token to show it: correct the name, or set "
            "the environment variable HF_TOKEN to a token with read access."
        ) from None
    except OfflineModeIsEnabled:
        raise ModelError(
            f"{what} is not in the local cache of the hub, and HF_HUB_OFFLINE is set: unset it, "
            f"{_BY_HAND}."
        ) from None
    # A proxy's page instead of JSON raises a ValueError; the library's errors have no common base.
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError, ValueError, KeyError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ModelError(
                f"{what} does not fit into {constants.HF_HUB_CACHE}: free some space, or set the "
                "environment variable HF_HOME to a folder on another disk."
            ) from None
        raise ModelError(
            f"{what} could not be downloaded from {hub} ({_first_line(error)}): check its name, "
            f"its revision and the network, {_BY_HAND}."
        ) from None
    logger.info("%s: commit %s from %s.", what, commit_of(folder), hub)
    return folder


def commit_of(folder: Path) -> str | None:
    """Commit of a folder in the hub's cache; None for any other folder."""
    is_commit = folder.parent.name == "snapshots" and re.fullmatch("[0-9a-f]{40}", folder.name)
    return folder.name if is_commit else None


def _first_line(error: BaseException) -> str:
    """First line of an error without token and password; later lines contain ids of requests."""
    token = os.environ.get("HF_TOKEN")
    line = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(". ")
    return without_user(line.replace(token, "...") if token else line)


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


Head = Literal["masked-lm", "encoder", "classifier", "tildev2"]

_CLASSES: dict[str, type[BertPreTrainedModel]] = {
    "masked-lm": BertForMaskedLM,
    "encoder": BertModel,
    "classifier": BertForSequenceClassification,
    "tildev2": TildeV2,
}
_SETTINGS: dict[str, dict[str, Any]] = {
    # The pooler is for classification only, and language models have none.
    "encoder": {"add_pooling_layer": False},
    "classifier": {"num_labels": 1},
}
# Parts that are initialised when a language model or an encoder becomes a cross-encoder.
_NEW_PARTS = ("classifier.", "bert.pooler.")
# Tokenizer files: for any tokenizer, for BERT's, for RoBERTa's and for SentencePiece.
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5")


def load_model(
    source: Path | str,
    head: Head,
    *,
    seed: int | None = None,
    network: bool = False,
    revision: str | None = None,
) -> tuple[BertPreTrainedModel, PreTrainedTokenizerBase]:
    """Load a BERT and its tokenizer, in eval mode and float32 on the CPU."""
    if head not in _CLASSES:
        raise ModelError(f"The head {head!r} is unknown; choose one of {', '.join(_CLASSES)}.")
    folder, name = model_folder(source, network=network, revision=revision), str(source)
    with quiet():
        model = _read_weights(folder, name, head, seed)
        tokenizer = read_tokenizer(folder, name)
    entries = max([len(tokenizer) - 1, *tokenizer.get_vocab().values()]) + 1
    if entries > model.config.vocab_size:
        raise ModelError(
            f"The tokenizer of {name} has {entries} entries, but the model only "
            f"{model.config.vocab_size}: they do not belong together; use both from one source."
        )
    return model.eval(), tokenizer


def model_folder(source: Path | str, *, network: bool = False, revision: str | None = None) -> Path:
    """Folder of a model that can be loaded from safetensors; parameters as in `load_model`."""
    folder = _hub_folder(source, network, revision) if isinstance(source, str) else source
    if reason := _explain_missing(folder):
        raise ModelError(f"The model {source} cannot be loaded: {reason}.")
    return folder


def device() -> torch.device:
    """Device for computations: the GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def use_one_thread() -> None:
    """Make torch use a single core in this process.

    Then several jobs can run at once, on one core each, and sums do not depend on the number of
    cores of the machine.
    """
    torch.set_num_threads(1)


def set_gpu_precision(precision: Literal["bfloat16", "float32"]) -> None:
    """Set the number format of this process on a GPU; a CPU always computes in float32.

    With bfloat16, torch's autocast applies to the whole process: matrix products are in bfloat16,
    sums and norms in float32.
    """
    torch.set_autocast_dtype("cuda", torch.bfloat16)
    torch.set_autocast_enabled("cuda", precision == "bfloat16" and torch.cuda.is_available())


def _explain_missing(folder: Path) -> str | None:
    """What is missing from the folder of a model, and what to do; None if it can be loaded."""
    if not folder.is_dir():
        raise ModelError(
            f"The folder {folder} does not exist: give the folder of a model, or the name of a hub "
            "model as a str."
        )
    if not (folder / "config.json").is_file():
        return f"{folder} has no config.json, which describes the model; copy it there"
    # Weights in several files have an index.
    if not any((folder / f"model.safetensors{end}").is_file() for end in ("", ".index.json")):
        pickles = sorted(path.name for kind in _PICKLES for path in folder.glob(kind))
        if pickles:
            return (
                f"{folder} has its weights only as {', '.join(pickles)}, which can run code when "
                "it is read; use a version with model.safetensors, or convert it with `everycell "
                "data convert-weights`"
            )
        return f"{folder} has no model.safetensors, which contains the weights; copy it there"
    if not any(path.is_file() for name in _TOKENIZERS for path in folder.glob(name)):
        return (
            f"{folder} has none of {', '.join(_TOKENIZERS)}, but the tokenizer needs at least one; "
            "copy it there from the same model"
        )
    return None


def _hub_folder(name: str, network: bool, revision: str | None) -> Path:
    """Folder of a hub model: from the local cache if it is complete there, else downloaded."""
    name, _, pinned = name.partition("@")
    revision = revision or pinned or None
    folder = cached_folder(name, revision)
    if folder is None and not network:
        raise ModelError(
            f"The model {name} is not in the local cache of the hub, and downloads are not "
            "allowed: allow them, or download the model first (hf download)."
        )
    if folder is not None and (not network or not _explain_missing(folder)):
        return folder
    folder = download_model(name, revision)
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"The hub has no weights of {name} in safetensors at this revision: use another "
            f"revision or model, or download its pickle (`hf download {name}`), convert it with "
            "`everycell data convert-weights`, and give the new folder."
        )
    return folder


def _read_weights(folder: Path, name: str, head: Head, seed: int | None) -> BertPreTrainedModel:
    read_settings(folder / "config.json")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    # transformers raises errors without a common base for values of a wrong type.
    except Exception as error:
        raise ModelError(
            f"{folder / 'config.json'} cannot be read as a model's configuration "
            f"({on_one_line(str(error))}): copy it again from the model's source."
        ) from error
    if config.model_type != "bert":
        raise ModelError(
            f"The model {name} has the architecture {config.model_type!r}; only 'bert' is "
            "supported: use another model."
        )
    if config.is_decoder:
        raise ModelError(
            f"The model {name} is a decoder ('is_decoder' in config.json): its tokens do not "
            "attend to later tokens; use an encoder."
        )
    # New parts are initialised with the CPU's global generator, which is restored afterwards.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0 if seed is None else seed)
        model, missing = load_weights(_CLASSES[head], folder, name, **_SETTINGS.get(head, {}))
    if head == "classifier" and seed is not None:
        missing = [part for part in missing if not part.startswith(_NEW_PARTS)]
    if missing:
        raise ModelError(
            f"The model {name} cannot be used with the head {head!r}: its weights lack "
            f"{', '.join(missing[:3])}{' and more' if len(missing) > 3 else ''}; use a "
            "model that was trained with this head"
            + (", or give a seed to initialise a new one." if head == "classifier" else ".")
        )
    return model


def load_weights(
    model_class: Any, folder: Path, name: str, **options: Any
) -> tuple[Any, list[str]]:
    """Load a model from a folder; also return the sorted names of missing weights."""
    read_settings(folder / "config.json")
    check_parts(folder)
    try:
        check_size(model_class, folder)
        model, report = model_class.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            **({"dtype": torch.float32} | options),
        )
    except DataError:
        raise
    # A damaged file raises errors of safetensors, torch and transformers without a common base.
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(
            f"The weights of {name} cannot be read ({reason}): a file in {folder} is damaged or "
            "belongs to another model; copy it again from the model's source."
        ) from error
    return model, sorted(report["missing_keys"])


def read_tokenizer(folder: Path, name: str, kind: Any = AutoTokenizer) -> PreTrainedTokenizerBase:
    """Read the tokenizer in a folder with the class `kind`; errors contain the model's `name`."""
    try:
        if (folder / "tokenizer.json").is_file():
            check_growth(folder / "tokenizer.json")
        # Without trust_remote_code, transformers asks whether it may run the code in the folder.
        tokenizer = kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except DataError:
        raise
    # The tokenizers library raises plain Exceptions.
    except Exception as error:
        raise ModelError(
            f"The tokenizer of {name} cannot be read ({on_one_line(str(error))}): a file in "
            f"{folder} is damaged; copy it again from the model's source."
        ) from error
    return check_tokenizer(tokenizer, folder)


#: Entries before the words, as in BERT's vocabularies: TILDE's markers are entries 1 and 2.
SPECIAL = ("[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_untrained(words: Sequence[str], folder: Path, *, positions: int, seed: int) -> None:
    """Write a language model with random weights and its tokenizer to a folder."""
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=positions,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = BertForMaskedLM(config)
    model.bert.embeddings.position_embeddings.weight.data *= 0.5
    model.save_pretrained(folder)
    BertTokenizerFast(vocab=vocabulary, model_max_length=positions).save_pretrained(folder)
