# Material that the user provides, by its key in config.yaml, or that is downloaded on request.
import re

from everycell.records.full_runs import FETCH, HUB_NAME
from everycell.sources.corpora import CORPORA


def folder_of_corpus(name):
    """Parameter function: the folder of a downloaded corpus."""
    return lambda wildcards: fetched_corpus(name)


def is_language_model(name):
    """Whether config.yaml defines a language model with this name."""
    models = SETTINGS.language_models
    return name in models.local or name in models.endpoints


#: Kinds of user-provided material -> description for messages, and check of a setting.
USER_MATERIAL = {
    "folder": ("a folder", os.path.isdir),
    "file": ("a file", os.path.isfile),
    # The library looks up names of Hugging Face models in its own cache.
    "model": ("a folder or the name of a Hugging Face model", lambda name: True),
    # Names of pyserini's indexes have no slash.
    "index": (
        "a folder or the name of an index in pyserini",
        lambda name: os.path.isdir(name) or "/" not in name,
    ),
    "language model": ("a name from `language_models`", is_language_model),
    "language models": (
        "names from `language_models`",
        lambda names: all(map(is_language_model, names)),
    ),
}


def named_by_user(key, content, page, *, kind="folder", corpus=None):
    """User-provided material, by its key in config.yaml; folders and files as paths.

    `content` describes the material, `page` is a page of docs/ with details. `corpus` is downloaded
    if the key is `fetch`: "squad", or a file such as "squad/dev-v2.0.json".
    """
    value = setting_value(SETTINGS, key)
    if corpus is not None and value == FETCH:
        return Path(fetched_corpus(corpus))
    expected, is_valid = USER_MATERIAL[kind]
    if not value or not is_valid(value):
        noun = {"index": "an index", "language models": "a list of language models"}.get(
            kind, f"a {kind}"
        )
        current = (
            f"{value!r}, which is not {noun}" if value else "null" if value is None else "empty"
        )
        download = f", or to `{FETCH}` to download it" if corpus else ""
        refuse(
            f"config.yaml: `{key}` is {current}; this tier needs {content}. Set it to "
            f"{expected}{download} (see docs/{page}), or run another tier."
        )
    return Path(value) if kind in ("folder", "file") else value


def files_named_by_user(key, names, content, page, *, corpus=None):
    """Files in a folder that the user provides, or files of a downloaded corpus."""
    folder = named_by_user(key, content, page, corpus=corpus)
    is_fetched = corpus is not None and folder == Path(fetched_corpus(corpus))
    for name in names:
        if not is_fetched and not (folder / name).is_file():
            refuse(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {name}. docs/{page} lists "
                "the required files."
            )
    return [str(folder / name) for name in names]


def named_model_files(key, page, what, *, revision=None):
    """Files of a model in a folder, or the folder into which a Hugging Face model is downloaded.

    `revision` is used for a name without a revision.
    """
    source = named_by_user(key, what, page, kind="model")
    if not os.path.isdir(source) and re.fullmatch(HUB_NAME, source):
        if revision and "@" not in source:
            source = f"{source}@{revision}"
        return ["work/hub-models/" + "--".join(Path(source).parts)]
    folder = named_by_user(key, what, page)
    files = [
        file
        for pattern in (
            "config.json",
            "model*.safetensors*",
            "*token*.json",
            "vocab.*",
            "merges.txt",
            "*.model",
        )
        for file in sorted(folder.glob(pattern))
    ]
    for needed in ("config.json", "model*.safetensors"):
        if not any(file.match(needed) for file in files):
            refuse(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {needed}. Set it to a "
                f"folder with {what}."
            )
    return [str(file) for file in files]
