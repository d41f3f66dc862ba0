# Files of the language models in config.yaml.
#: GGUF files by name of the language model: a path, or a file of the registry.
GGUF_FILES = {
    name: model.source if os.path.exists(model.source) else resource(model.source)
    for name, model in SETTINGS.language_models.local.items()
    if model.source.endswith(".gguf")
}


def language_model_files(name):
    """Input of a job with requests to a language model: its folder, or nothing for an endpoint.

    A model on the hub is not an input either, since the library uses its own cache.
    """
    if name in GGUF_FILES:
        return f"work/language-models/{name}"
    model = SETTINGS.language_models.local.get(name)
    return model.source if model is not None and os.path.isdir(model.source) else []


def needs_gpu(name):
    """Whether a language model runs on this machine's GPU and not behind an endpoint."""
    return name not in SETTINGS.language_models.endpoints


def asking(megabytes=2500, minutes=2880):
    """Resources of a rule with requests to the language model of its wildcard."""
    return where(lambda wildcards: needs_gpu(wildcards.model), ON_GPU, needs(megabytes, minutes))


def answered_by(name):
    """Settings that determine the answers of a language model; a change requires new answers."""
    return SETTINGS.language_models.answer_settings(name)
