"""Loading models, and the two systems that are used as they come: SPLADE and a dense encoder.

Weights are read from safetensors only: a pickle can run code when it is read. Nothing is fetched
from the network unless a call allows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from scipy import sparse
from torch.nn import functional
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BertPreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from everycell.learning.batching import Batch, map_batches
from everycell.learning.tilde import check_length, token_ids
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
# What a cross-encoder starts anew when a language model or an encoder becomes one.
_NEW_PARTS = ("classifier.", "bert.pooler.")
# Vocabulary entries whose logits are computed at once.
_BLOCK = 1024
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5")
# From a hub: never code, never a pickle.
_HUB_FILES = (
    ["*.safetensors", "*.safetensors.index.json", "*config.json", "vocab.txt", "merges.txt"]
    + [f"{name}.json" for name in ("tokenizer", "special_tokens_map", "added_tokens")]
    + ["chat_template.jinja"]
)


class ModelError(Exception):
    """A model cannot be loaded or used; the message says what to do."""


def load_model(
    source: Path | str,
    head: Head,
    *,
    seed: int | None = None,
    network: bool = False,
    revision: str | None = None,
) -> tuple[BertPreTrainedModel, PreTrainedTokenizerBase]:
    """A BERT with its tokenizer, in eval mode, in float32, on the CPU.

    Parameters
    ----------
    source : Path or str
        A `Path` is a folder with `config.json`, `model.safetensors` (or several with their index)
        and `tokenizer.json` or `vocab.txt`. A `str` is a name on the Hugging Face hub, such as
        ``"bert-base-uncased"``, which is looked for in the local cache of the hub.
    head : {"masked-lm", "encoder", "classifier", "tildev2"}
        What stands on the encoder: the language-model head, nothing (last hidden states), one score
        for a text or a pair, or TILDEv2's weight for each token.
    seed : int, optional
        Of the new score head (pooler too where there is none) for a `"classifier"` that is to be
        trained. Without it, a folder without a trained head is refused.
    network : bool
        Whether a hub name that is not in the local cache may be downloaded.
    revision : str, optional
        Commit, tag or branch of a hub name; its main branch by default.

    Returns
    -------
    model : BertForMaskedLM, BertModel, BertForSequenceClassification or TildeV2
        By `head`; a `BertModel` without a pooler.
    tokenizer : transformers.PreTrainedTokenizerBase

    Raises
    ------
    ModelError
        A file is missing or damaged, the weights are a pickle, the architecture is not BERT, the
        head is not in the weights, or the tokenizer has more entries than the model.

    Examples
    --------
    >>> load_model(Path("no/such/folder"), "encoder")
    Traceback (most recent call last):
    everycell.learning.models.ModelError: There is no folder no/such/folder: name the folder of a \
model, or give the name of a hub model as a str.
    """
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
    """Folder of a model that can be loaded from safetensors; parameters as for `load_model`.

    Raises
    ------
    ModelError
        The folder, or a file that loading needs, is missing, or the hub does not have the model.

    Examples
    --------
    >>> model_folder(Path("no/such/folder"))
    Traceback (most recent call last):
    everycell.learning.models.ModelError: There is no folder no/such/folder: name the folder of a \
model, or give the name of a hub model as a str.
    """
    folder = _hub_folder(source, network, revision) if isinstance(source, str) else source
    if missing := _missing(folder):
        raise ModelError(f"The model {source} cannot be loaded: {missing}.")
    return folder


def device() -> torch.device:
    """Where to compute: the GPU if there is one, else the CPU.

    Returns
    -------
    torch.device

    Examples
    --------
    >>> device().type in ("cuda", "cpu")
    True
    """
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def one_thread() -> None:
    """Let torch compute on one core in this process.

    Jobs run side by side, one core each; and sums come out the same on machines with other numbers
    of cores.

    Examples
    --------
    >>> one_thread()
    >>> torch.get_num_threads()
    1
    """
    torch.set_num_threads(1)


def splade_weights(
    model: BertForMaskedLM,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    length: int,
    *,
    columns: npt.NDArray[np.integer] | None = None,
    batch_tokens: int = 2048,
) -> sparse.csr_array:
    """SPLADE's weight of each vocabulary entry for each text.

    The largest of log(1 + ReLU(logit)) over the tokens of the text, [CLS] and [SEP] included,
    padding left out (Formal et al. 2021, SPLADE v2, equations 1 and 6).

    Parameters
    ----------
    model : BertForMaskedLM
        Trained as SPLADE, in eval mode.
    tokenizer : transformers.PreTrainedTokenizerBase
    texts : sequence of str
        n texts; may be empty. An empty text has the weights of [CLS] and [SEP].
    length : int
        Most tokens of a text, the two special ones included, 3 or more; the rest is cut off.
    columns : numpy.ndarray of int, optional
        Entries to weigh, for instance those that have a weight in any query: a score needs no
        others of a document, and most of the time goes into them. Default: the whole vocabulary.
    batch_tokens : int
        Most tokens in a batch.

    Returns
    -------
    scipy.sparse.csr_array of float32, shape (n, vocabulary) or (n, columns)
        Only weights above 0 are stored, columns in order. The dot product of two rows is the score.

    Raises
    ------
    ModelError
        A length beyond what the model reads.
    ValueError
        A length below 3.

    Examples
    --------
    >>> from transformers import BertConfig, BertTokenizer
    >>> vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"])}
    >>> size = {"hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 4}
    >>> model = BertForMaskedLM(BertConfig(vocab_size=6, num_hidden_layers=1, **size)).eval()
    >>> splade_weights(model, BertTokenizer(vocab=vocabulary), ["a b", "a"], 8).shape
    (2, 6)
    """
    check_length(model, length)
    decoder = model.cls.predictions.decoder
    kept_entries = slice(None) if columns is None else torch.as_tensor(columns, dtype=torch.long)
    projection, bias = decoder.weight[kept_entries], decoder.bias[kept_entries]

    def forward(batch: Batch) -> torch.Tensor:
        states = model.cls.predictions.transform(model.bert(**batch).last_hidden_state)
        # Padding repeats [CLS], which changes no maximum.
        states = states.where(batch["attention_mask"][:, :, None] == 1, states[:, :1])
        # Adding b, ReLU and the logarithm keep the order, so the largest is taken first. In blocks
        # that fit into the processor's cache: twice as fast as all logits at once.
        largest = [(states @ block.T).amax(dim=1) for block in projection.split(_BLOCK)]
        weights = (torch.cat(largest, dim=1) + bias).relu().log1p()
        # Only the largest leave the batch, as many as its fullest text has above 0.
        most = int((weights > 0).sum(dim=1).max())
        values, entries = weights.topk(most, dim=1)
        return torch.stack((values, entries.to(values.dtype)), dim=1)

    rows = map_batches(
        forward,
        token_ids(tokenizer, texts, length),
        pad_id=tokenizer.pad_token_id,
        batch_tokens=batch_tokens,
        device=model.device,
    )
    kept = [row[:, row[0] > 0] for row in rows]
    starts = np.concatenate([[0], np.cumsum([row.shape[1] for row in kept], dtype=np.int64)])
    values, entries = np.concatenate([*kept, np.empty((2, 0), np.float32)], axis=1)
    # Entries are whole numbers below 2^24, which float32 holds exactly.
    matrix = sparse.csr_array(
        (values, entries.astype(np.int64), starts), shape=(len(texts), len(bias))
    )
    matrix.sort_indices()
    return matrix


def dense_vectors(
    model: BertModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    length: int,
    *,
    batch_tokens: int = 2048,
) -> npt.NDArray[np.float32]:
    """A vector of length 1 for each text: the mean of its tokens' last hidden states.

    [CLS] and [SEP] count, padding does not (Reimers and Gurevych 2019, Sentence-BERT, section 3).

    Parameters
    ----------
    model : BertModel
        A sentence encoder, in eval mode.
    tokenizer : transformers.PreTrainedTokenizerBase
    texts : sequence of str
        n texts; may be empty. An empty text has the mean of [CLS] and [SEP].
    length : int
        Most tokens of a text, the two special ones included, 3 or more; the rest is cut off.
    batch_tokens : int
        Most tokens in a batch.

    Returns
    -------
    numpy.ndarray of float32, shape (n, hidden size)
        Rows of Euclidean length 1. The dot product of two is their cosine, from -1 to 1.

    Raises
    ------
    ModelError
        A length beyond what the model reads.
    ValueError
        A length below 3.

    Examples
    --------
    >>> from transformers import BertConfig, BertTokenizer
    >>> vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"])}
    >>> size = {"hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 4}
    >>> model = BertModel(BertConfig(vocab_size=6, num_hidden_layers=1, **size)).eval()
    >>> vectors = dense_vectors(model, BertTokenizer(vocab=vocabulary), ["a b", "a"], 8)
    >>> np.linalg.norm(vectors, axis=1).round(6)
    array([1., 1.], dtype=float32)
    """
    check_length(model, length)

    def forward(batch: Batch) -> torch.Tensor:
        states = model(**batch).last_hidden_state
        real = batch["attention_mask"][:, :, None].to(states.dtype)
        return functional.normalize((states * real).sum(dim=1) / real.sum(dim=1), dim=1)

    rows = map_batches(
        forward,
        token_ids(tokenizer, texts, length),
        pad_id=tokenizer.pad_token_id,
        batch_tokens=batch_tokens,
        device=model.device,
    )
    return np.array(rows, dtype=np.float32).reshape(len(texts), model.config.hidden_size)


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
                "it is read; take a version with model.safetensors, or convert it where that is "
                "safe"
            )
        return f"{folder} has no model.safetensors, which holds the weights; copy it there"
    if not any((folder / name).is_file() for name in ("tokenizer.json", "vocab.txt")):
        return (
            f"{folder} has neither tokenizer.json nor vocab.txt, one of which the tokenizer needs; "
            "copy it there from the same model"
        )
    return None


def _hub_folder(name: str, network: bool, revision: str | None) -> Path:
    """Folder of a hub model: from the local cache if it is whole there, else from the network."""
    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True))
        if not network or not _missing(folder):
            return folder
    except HFValidationError as error:
        raise ModelError(
            f"{name!r} is no name of a hub model (such as 'org/model'): give a folder as a Path."
        ) from error
    except LocalEntryNotFoundError as error:
        if not network:
            raise ModelError(
                f"The model {name} is not in the local cache of the hub, and the network is not "
                "allowed here: allow it, or download the model before (hf download)."
            ) from error
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=_HUB_FILES))
    except (OSError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise ModelError(
            f"The model {name} could not be downloaded ({error}): check its name, its revision "
            "and the network, or download it elsewhere and give its folder."
        ) from error


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
    # New parts are drawn from the global generator of the CPU, which the caller keeps as it was.
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0 if seed is None else seed)
        try:
            model, report = _CLASSES[head].from_pretrained(
                folder,
                local_files_only=True,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                **_SETTINGS.get(head, {}),
            )
        # A damaged file ends in errors of safetensors, torch and transformers, with no common base.
        except Exception as error:
            raise ModelError(
                f"The weights of {name} cannot be read ({error}): the file is damaged or does not "
                "fit config.json; copy it again from the model's source."
            ) from error
    missing = set(report["missing_keys"])
    if head == "classifier" and seed is not None:
        missing = {part for part in missing if not part.startswith(_NEW_PARTS)}
    if missing:
        raise ModelError(
            f"The model {name} cannot be used as {head}: its weights lack "
            f"{', '.join(sorted(missing)[:3])}{' and more' if len(missing) > 3 else ''}; take a "
            "model that was trained with this head"
            + (", or give a seed to start a new one." if head == "classifier" else ".")
        )
    return model


def read_tokenizer(folder: Path, name: str) -> PreTrainedTokenizerBase:
    """Tokenizer in a folder; `name` is what an error calls the model.

    Raises
    ------
    ModelError
        A file is damaged.
    """
    try:
        # Said in so many words: where it is left open, transformers asks on the terminal whether
        # it may run the code in the folder.
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    # The tokenizers library raises plain Exceptions.
    except Exception as error:
        raise ModelError(
            f"The tokenizer of {name} cannot be read ({error}): a file of it in {folder} is "
            "damaged; copy it again from the model's source."
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from printing its progress and report: what matters is checked here."""
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
