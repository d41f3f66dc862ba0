# Material that only the user can name, by its key in config.yaml, or that is fetched on request.
import re

from everycell.engine.full_runs import FETCH, HUB_NAME
from everycell.sources.corpora import CORPORA


def folder_of_corpus(name):
    """Where the files of a corpus go, as a parameter."""
    return lambda wildcards: fetched_corpus(name)


def is_language_model(name):
    """Whether config.yaml has a language model of this name."""
    models = SETTINGS.language_models
    return name in models.local or name in models.endpoints


#: Kinds of what only the user can name -> how a sentence asks for it, whether a name is one.
NAMED = {
    "folder": ("its folder", os.path.isdir),
    "file": ("its file", os.path.isfile),
    # The library looks for a name on the hub in its own cache.
    "model": ("its folder or its name on the hub", lambda name: True),
    # The same for pyserini's names, which have no slash.
    "index": (
        "its folder or its name in pyserini",
        lambda name: os.path.isdir(name) or "/" not in name,
    ),
    "language model": ("one of `language_models`", is_language_model),
    "language models": (
        "some of `language_models`",
        lambda names: all(map(is_language_model, names)),
    ),
}


def named_by_user(key, content, page, *, kind="folder", corpus=None):
    """What only the user can name, by its key in config.yaml; folders and files as paths.

    `content` says what is needed there, `page` which page of docs/ tells more. `corpus` is what
    is downloaded if the key is `fetch`: "squad", or "squad/dev-v2.0.json".
    """
    named = setting(SETTINGS, key)
    if corpus is not None and named == FETCH:
        return Path(fetched_corpus(corpus))
    what, is_one = NAMED[kind]
    if not named or not is_one(named):
        found = (
            f"{named!r}, which is not a {kind}" if named else "null" if named is None else "empty"
        )
        by_itself = f", write `{FETCH}` to have it fetched" if corpus else ""
        refuse(
            f"config.yaml: `{key}` is {found}; this tier needs {content} there, so name "
            f"{what}{by_itself} (docs/{page} says more), or ask for another tier."
        )
    return Path(named) if kind in ("folder", "file") else named


def files_named_by_user(key, names, content, page, *, corpus=None):
    """Files in a folder that the user names, or of a corpus that is downloaded."""
    folder = named_by_user(key, content, page, corpus=corpus)
    is_fetched = corpus is not None and folder == Path(fetched_corpus(corpus))
    for name in names:
        if not is_fetched and not (folder / name).is_file():
            refuse(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {name}; docs/{page} says "
                "what it holds."
            )
    return [str(folder / name) for name in names]


def named_model_files(key, page, what, *, revision=None):
    """Files of a model in a folder, or the folder into which a model of the hub is downloaded.

    `revision` is what the configuration says of a name that has none itself.
    """
    source = named_by_user(key, what, page, kind="model")
    if not os.path.isdir(source) and re.fullmatch(HUB_NAME, source):
        if revision and "@" not in source:
            source = f"{source}@{revision}"
        return ["work/hub-models/" + "--".join(Path(source).parts)]
    folder = named_by_user(key, what, page)
    found = [
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
        if not any(file.match(needed) for file in found):
            refuse(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {needed}; name a folder "
                f"with {what}."
            )
    return [str(file) for file in found]
