"""Loading BERT models with their tokenizers.

Weights are read from safetensors only: a pickle can run code when it is read. Nothing is fetched
from the network unless a call allows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import torch
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BertPreTrainedModel,
    PreTrainedTokenizerBase,
)

from everycell.learning.hub import ModelError, cached_folder, download_model
from everycell.learning.quiet import quiet
from everycell.learning.tildev2 import TildeV2

Head = Literal["masked-lm", "encoder", "classifier", "tildev2"]

_CLASSES: dict[str, type[BertPreTrainedModel]] = {
    "masked-lm": BertForMaskedLM,
    "encoder": BertModel,
    "classifier": BertForSequenceClassification,
    "tildev2": TildeV2,
}
_SETTINGS: dict[str, dict[str, Any]] = {
    # The pooler serves classification only, and language models come without one.
    "encoder": {"add_pooling_layer": False},
    "classifier": {"num_labels": 1},
}
# Parts that are initialised when a language model or an encoder becomes a cross-encoder.
_NEW_PARTS = ("classifier.", "bert.pooler.")
# The vocabulary of a tokenizer of any kind, of BERT, of RoBERTa, of SentencePiece.
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
    """A BERT with its tokenizer, in eval mode, in float32, on the CPU."""
    if head not in _CLASSES:
        raise ModelError(f"There is no head {head!r}; the heads are {', '.join(_CLASSES)}.")
    folder, name = model_folder(source, network=network, revision=revision), str(source)
    with quiet():
        model = _read_weights(folder, name, head, seed)
        tokenizer = read_tokenizer(folder, name)
    if len(tokenizer) > model.config.vocab_size:
        raise ModelError(
            f"The tokenizer of {name} has {len(tokenizer)} entries, but the model only "
            f"{model.config.vocab_size}: they do not belong together; take both from one source."
        )
    return model.eval(), tokenizer


def model_folder(source: Path | str, *, network: bool = False, revision: str | None = None) -> Path:
    """Folder of a model that can be loaded from safetensors; parameters as for `load_model`."""
    folder = _hub_folder(source, network, revision) if isinstance(source, str) else source
    if missing := _missing(folder):
        raise ModelError(f"The model {source} cannot be loaded: {missing}.")
    return folder


def device() -> torch.device:
    """Where to compute: the GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def use_one_thread() -> None:
    """Let torch compute on one core in this process.

    Jobs run side by side, one core each; and sums come out the same on machines with other numbers
    of cores.
    """
    torch.set_num_threads(1)


def set_gpu_precision(precision: Literal["bfloat16", "float32"]) -> None:
    """Let this process compute in a number format on a GPU; a CPU stays at float32.

    torch's autocast then holds for the whole process: matrix products are in bfloat16, sums and
    norms in float32.
    """
    torch.set_autocast_dtype("cuda", torch.bfloat16)
    torch.set_autocast_enabled("cuda", precision == "bfloat16" and torch.cuda.is_available())


def _missing(folder: Path) -> str | None:
    """What a folder lacks to be a model that can be loaded; None if nothing."""
    if not folder.is_dir():
        raise ModelError(
            f"There is no folder {folder}: name the folder of a model, or give the name of a hub "
            "model as a str."
        )
    if not (folder / "config.json").is_file():
        return f"{folder} has no config.json, which says what the model is; copy it there"
    # A model in several files has an index that names them.
    if not any((folder / f"model.safetensors{end}").is_file() for end in ("", ".index.json")):
        pickles = sorted(path.name for kind in _PICKLES for path in folder.glob(kind))
        if pickles:
            return (
                f"{folder} has its weights only as {', '.join(pickles)}, which can run code when "
                "it is read; take a version with model.safetensors, or convert it with `everycell "
                "data convert-weights`"
            )
        return f"{folder} has no model.safetensors, which holds the weights; copy it there"
    if not any(path.is_file() for name in _TOKENIZERS for path in folder.glob(name)):
        return (
            f"{folder} has none of {', '.join(_TOKENIZERS)}, one of which the tokenizer needs; "
            "copy it there from the same model"
        )
    return None


def _hub_folder(name: str, network: bool, revision: str | None) -> Path:
    """Folder of a hub model: from the local cache if it is whole there, else from the network."""
    name, _, pinned = name.partition("@")
    revision = revision or pinned or None
    folder = cached_folder(name, revision)
    if folder is None and not network:
        raise ModelError(
            f"The model {name} is not in the local cache of the hub, and the network is not "
            "allowed here: allow it, or download the model before (hf download)."
        )
    if folder is not None and (not network or not _missing(folder)):
        return folder
    folder = download_model(name, revision)
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"The hub has no weights of {name} in safetensors at this revision: take another "
            f"revision or model, or get its pickle (`hf download {name}`), turn that into "
            "safetensors with `everycell data convert-weights`, and name the folder."
        )
    return folder


def _read_weights(folder: Path, name: str, head: Head, seed: int | None) -> BertPreTrainedModel:
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"{folder / 'config.json'} cannot be read as a model's configuration ({error}): copy "
            "it again from the model's source."
        ) from error
    if config.model_type != "bert":
        raise ModelError(
            f"The model {name} has the architecture {config.model_type!r}; only 'bert' is known "
            "here: take another model."
        )
    if config.is_decoder:
        raise ModelError(
            f"The model {name} is a decoder ('is_decoder' in config.json): its tokens do not see "
            "those after them; take an encoder."
        )
    # New parts are drawn from the global generator of the CPU, which the caller keeps as it was.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0 if seed is None else seed)
        model, missing = load_weights(_CLASSES[head], folder, name, **_SETTINGS.get(head, {}))
    if head == "classifier" and seed is not None:
        missing = [part for part in missing if not part.startswith(_NEW_PARTS)]
    if missing:
        raise ModelError(
            f"The model {name} cannot be used as {head}: its weights lack "
            f"{', '.join(missing[:3])}{' and more' if len(missing) > 3 else ''}; take a "
            "model that was trained with this head"
            + (", or give a seed to start a new one." if head == "classifier" else ".")
        )
    return model


def load_weights(
    model_class: Any, folder: Path, name: str, **options: Any
) -> tuple[Any, list[str]]:
    """A model in a folder, and the names of the weights that the folder lacks, sorted."""
    try:
        model, report = model_class.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            **({"dtype": torch.float32} | options),
        )
    # A damaged file ends in errors of safetensors, torch and transformers, with no common base.
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise ModelError(
            f"The weights of {name} cannot be read ({reason}): a file in {folder} is damaged or of "
            "another model; copy it again from the model's source."
        ) from error
    return model, sorted(report["missing_keys"])


def read_tokenizer(folder: Path, name: str, kind: Any = AutoTokenizer) -> PreTrainedTokenizerBase:
    """Tokenizer in a folder; `name` is what an error calls the model, `kind` the class to read."""
    try:
        # Said in so many words: where it is left open, transformers asks on the terminal whether
        # it may run the code in the folder.
        return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    # The tokenizers library raises plain Exceptions.
    except Exception as error:
        raise ModelError(
            f"The tokenizer of {name} cannot be read ({error}): a file of it in {folder} is "
            "damaged; copy it again from the model's source."
        ) from error
