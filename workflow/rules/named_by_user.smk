# What only the user can name, by its key in config.yaml.


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
    "language model": ("one of `language_models`", is_language_model),
    "language models": (
        "some of `language_models`",
        lambda names: all(map(is_language_model, names)),
    ),
}


def named_by_user(key, content, page, *, kind="folder"):
    """What only the user can name, by its key in config.yaml; folders and files as paths.

    `content` says what is needed there, `page` which page of docs/ tells more.
    """
    named = setting(SETTINGS, key)
    what, is_one = NAMED[kind]
    if not named or not is_one(named):
        found = (
            f"{named!r}, which is no {kind}"
            if named
            else "null" if named is None else "empty"
        )
        raise WorkflowError(
            f"config.yaml: `{key}` is {found}; this tier needs {content} there, so name {what} "
            f"(docs/{page} says more), or ask for another tier."
        )
    return Path(named) if kind in ("folder", "file") else named


def encoder_files_in(folder, key, what="a BERT in safetensors and its tokenizer"):
    """Files of the encoder in a folder, which stands under this key of the configuration."""
    found = [
        file
        for pattern in (
            "config.json",
            "model*.safetensors*",
            "*token*.json",
            "vocab.txt",
        )
        for file in sorted(folder.glob(pattern))
    ]
    for needed in ("config.json", "model*.safetensors"):
        if not any(file.match(needed) for file in found):
            raise WorkflowError(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {needed}; name a folder "
                f"with {what}."
            )
    return [str(file) for file in found]
