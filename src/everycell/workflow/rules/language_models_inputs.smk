# Files of the language models that config.yaml names.
#: Name -> GGUF file of the language models that come so: a path, or a file of the registry.
GGUF_FILES = {
    name: model.source if os.path.exists(model.source) else resource(model.source)
    for name, model in SETTINGS.language_models.local.items()
    if model.source.endswith(".gguf")
}


def language_model_files(name):
    """What a job needs that asks a language model: its folder, or nothing for an endpoint.

    A name on the hub is no file here: the library looks for it in its own cache.
    """
    if name in GGUF_FILES:
        return f"work/language-models/{name}"
    model = SETTINGS.language_models.local.get(name)
    return model.source if model is not None and os.path.isdir(model.source) else []


def needs_gpu(name):
    """Whether a language model of the full tier needs a GPU: one behind an endpoint needs none."""
    return name not in SETTINGS.language_models.endpoints


def asking(megabytes=2500, minutes=2880):
    """Resources of a rule of the full tier that asks the language model of its wildcard."""
    return where(lambda wildcards: needs_gpu(wildcards.model), ON_GPU, needs(megabytes, minutes))


def answered_by(name):
    """Parameters that determine the answers of a language model; a change requires new answers."""
    return SETTINGS.language_models.answer_settings(name)
