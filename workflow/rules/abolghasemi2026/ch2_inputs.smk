# Input functions and names of the rules of abolghasemi2026, chapter 2.
from importlib.metadata import version
from everycell.collections.pydocs import PACKAGES
from everycell.collections.scidocs import FOLDERS, METADATA
from everycell.collections.smart import FILES

#: Tasks of each query-by-example collection, and where the negatives of its main lists come from.
COLLECTIONS = {
    "pydocs": {"tasks": ["cite", "co-cite", "coupling"], "setting": "package"},
    "cacm": {"tasks": ["cite", "co-cite", "coupling"], "setting": "mixed"},
    "scidocs": {
        "tasks": ["co-view", "co-read", "co-cite", "cite"],
        "setting": "published",
    },
}


def files_of_encoder(encoder):
    """Weights, configuration and tokenizer of a pre-trained encoder.

    From the folder that the user names, or from the registry.
    """
    if encoder in SETTINGS.query_by_example.encoders.model_dump():
        return files_of_named_encoder(encoder)
    parts = (
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    )
    return [resource(f"{encoder}/{part}") for part in parts]


def files_of_named_encoder(key):
    """Files of the encoder whose folder stands under this key of the configuration."""
    folder = named_folder(
        f"encoders.{key}",
        "a BERT in safetensors with its tokenizer",
        "query-by-example.md",
    )
    return encoder_files_in(folder, f"query_by_example.encoders.{key}")


def named_folder(key, content, page):
    """A folder that only the user can name, for the full tier of chapter 2 of abolghasemi2026."""
    folder = SETTINGS.query_by_example
    for part in key.split("."):
        folder = getattr(folder, part)
    if folder is None or not os.path.isdir(folder):
        found = "null" if folder is None else f"{folder!r}, which is no folder"
        raise WorkflowError(
            f"config.yaml: `query_by_example.{key}` is {found}; this tier needs {content} there, "
            f"so name its folder (docs/{page} says what it holds), or ask for another tier."
        )
    return Path(folder)


def scidocs_files(wildcards):
    """Published files of SciDocs, in the folder that the user names."""
    folder = named_folder(
        "scidocs.folder", "the published files of SciDocs", "data-cards/scidocs.md"
    )
    files = {"metadata": METADATA} | {
        f"{name}_{part}": f"{name}/{part}.qrel"
        for name in FOLDERS.values()
        for part in ("val", "test")
    }
    missing = [file for file in files.values() if not (folder / file).exists()]
    if missing:
        raise WorkflowError(
            f"config.yaml: `query_by_example.scidocs.folder` is {str(folder)!r}, which has no "
            f"{missing[0]}; docs/data-cards/scidocs.md says what to download."
        )
    return {part: str(folder / file) for part, file in files.items()}


def encoder_files(wildcards):
    """Files of the wildcard's encoder."""
    return files_of_encoder(wildcards.encoder)


def smart_files(collection):
    """Documents, topics and judgements of a classic collection."""
    return {part: resource(key) for part, key in FILES[collection].items()}


def ad_hoc_files(wildcards):
    """Files of the wildcard's collection."""
    return smart_files(wildcards.collection)


def package_versions(packages):
    """Versions whose documentation becomes a collection: another one makes it anew."""
    return {name: version(PACKAGES[name]) for name in packages}


def training_tasks_of(wildcards):
    """Tasks that a model is trained on: one by name, or all."""
    return None if wildcards.trained_on == "all" else [wildcards.trained_on]


def training_options_of(wildcards):
    """How a kind of model is trained, in the words of `everycell.learning.training`."""
    names = {"cross-encoder": "cross_encoder", "mtft": "multi_task"}
    kind = wildcards.kind
    chosen = getattr(SETTINGS.query_by_example.models, names.get(kind, kind))
    return {
        "epochs": chosen.epochs,
        "batch_size": chosen.batch,
        "learning_rate": chosen.learning_rate,
        "optimiser": "adam" if kind == "tilde" else "adamw",
        "warmup_ratio": 0.1,
        "checkpoint_steps": 100,
    }


def reading_of(wildcards):
    """What a kind of model takes of the texts that it is trained on, and how it scores them.

    A kind has only what concerns it, so that a change for one trains no other.
    """
    lengths = SETTINGS.query_by_example.lengths
    if wildcards.kind in ("cross-encoder", "mtft"):
        return {"pair_length": {"total": lengths.pair}}
    # A tiny encoder in few steps: all ReLUs alive at the start, scores over the root of the
    # query's length. The thesis has neither.
    scoring = {"bias": 1.0, "scale": True} if wildcards.kind == "tildev2" else {}
    return {"length": lengths.training, **scoring}


def full_reading_of(wildcards):
    """The same for TILDE and TILDEv2 on SciDocs, scored as by their authors."""
    scoring = {"bias": 0.0, "scale": False} if wildcards.kind == "tildev2" else {}
    return {
        "length": SETTINGS.query_by_example.full.lengths.training,
        **scoring,
    }


def full_options_of(wildcards):
    """How a kind of model is trained on SciDocs, in the words of the same module."""
    kind = wildcards.kind
    full = SETTINGS.query_by_example.full
    chosen = getattr(full, kind if kind in ("tilde", "tildev2") else "cross_encoder")
    return {
        "epochs": chosen.epochs,
        "batch_size": chosen.batch,
        "learning_rate": chosen.learning_rate,
        "optimiser": "adam" if kind == "tilde" else "adamw",
        "schedule": chosen.schedule,
        "warmup_ratio": chosen.warmup,
        "bf16": chosen.bf16,
        "patience": getattr(chosen, "patience", None),
    }


def full_model_files(wildcards):
    """What encodes SciDocs for a ranker: a model of one task, or one from MS MARCO as it is."""
    if wildcards.trained_on == "zero-shot":
        return files_of_named_encoder(f"{wildcards.kind}_{wildcards.encoder}")
    return "work/scidocs/models/{kind}.{encoder}.{trained_on}".format(**wildcards)


def run_files(collection, systems):
    """Run files of systems; those of a system with a model a task have `{task}` in their name.

    What only the user can name is looked at here, since Snakemake takes an error in a rule further
    up for a reason to try another one.
    """
    if collection == "scidocs":
        check_named(systems)
    return list(
        dict.fromkeys(
            f"work/{collection}/runs/{run}.run".format(task=task)
            for *_, run in systems
            for task in COLLECTIONS[collection]["tasks"]
        )
    )


def check_named(systems):
    """Refuse systems on SciDocs whose encoder, or SciDocs itself, the user has not named."""
    scidocs_files(None)
    known = SETTINGS.query_by_example.encoders.model_dump()
    for *_, run in systems:
        kind, encoder = run.split(".")[:2]
        for key in (encoder, f"{kind}_{encoder}"):
            if key in known:
                files_of_named_encoder(key)


def expansion_files(collection):
    """New terms that each expansion of chapter 2 of abolghasemi2026 brought each document."""
    return [
        f"work/{collection}/encoded/tildev2-expanded-{m}.{ENCODER}.all.csv"
        for m in SETTINGS.query_by_example.expansion
    ]


def runs_of(table):
    """Runs that a table of chapter 2 of abolghasemi2026 compares, in the wildcard's tier."""
    return lambda wildcards: run_files(
        COLLECTION[wildcards.tier], table[wildcards.tier]
    )


def candidates_of(wildcards):
    """Candidate lists of the wildcard's tier."""
    return f"work/{COLLECTION[wildcards.tier]}/candidates.parquet"


def ad_hoc_runs(wildcards):
    """Judgements and runs of the classic collections of a tier."""
    return [
        f"work/{collection}/{file}"
        for collection in AD_HOC[wildcards.tier]
        for file in [
            "qrels.parquet",
            *(f"runs/{system[3]}.run" for system in TOKENISED[wildcards.tier]),
        ]
    ]
