# Functions that the rules share.
import hashlib
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path

from snakemake.exceptions import WorkflowError

from everycell.engine.artefacts import (
    CardError,
    RUNNABLE,
    TIERS,
    all_artefacts,
    load_papers,
)
from everycell.collections.answerability import FILES as ANSWERABILITY_FILES
from everycell.collections.cited_questions import PASSAGES, QUESTIONS
from everycell.collections.nq_open import KEY as NQ_OPEN
from everycell.collections.nugget_labels import CONDENSED, TABLES
from everycell.collections.pydocs import PACKAGES
from everycell.collections.scidocs import FOLDERS, METADATA
from everycell.collections.smart import FILES
from everycell.collections.snippets import FILES as ANNOTATION_FILES, SELECTION_FILES
from everycell.collections.user_satisfaction import CAUSE_FILES, FILES as RATING_FILES
from everycell.config import ConfigError, parse_config, read_config
from everycell.engine.code import code_sha256, imported_files
from everycell.text.tokenise import VOCABULARIES

try:
    # Snakemake takes the last of two equal keys, and of a broken file it does not name the line.
    read_config(Path("config.yaml"))
except ConfigError as error:
    raise WorkflowError(str(error)) from None


configfile: "config.yaml"


try:
    SETTINGS = parse_config(config)
    PAPERS = load_papers(Path("published"))
except (CardError, ConfigError) as error:
    raise WorkflowError(str(error)) from None
config["cache"] = SETTINGS.cache


# Snakemake starts at most 100 jobs a second unless told otherwise. While that limit stands, its loop
# looks at all ready jobs again a second after each look, and each job that has ended adds one more
# such chain (JobScheduler._schedule_reevalutation; snakemake pull request 3744 is about this loop):
# a third of a core in the released tier. No option takes the limit away, and a longer timespan
# keeps Snakemake, and each job of a cluster, that much longer from ending. So it goes where nobody
# chose another one.
onstart:
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit is not None and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def environment(name):
    """Conda file of a group of packages, from whichever folder a rule asks for it."""
    return f"{workflow.basedir}/envs/{name}.yaml"


def script_file(name):
    """A script, from whichever folder a rule asks for it: rules inherit it over folders."""
    return f"{workflow.basedir}/workflow/scripts/{name}.py"


def code_of(script):
    """Hash of the code that a script runs, so that a change of any of it runs it again.

    The version is part of it: `everycell verify` trusts no result of another version. Only the
    scripts of jobs that are looked at are hashed: each job of a cluster reads all rules again.
    """

    def code(wildcards):
        return hash_of_code(script)

    return code


@cache
def hash_of_code(script):
    """Hash of a script and of all that it imports here."""
    root = Path(workflow.basedir)
    return code_sha256(imported_files(Path(script_file(script)), [root / "src"]), root)


def face_of(tier, name):
    """What a card says of a shown table: title, layout, decimals, titles of what stands beside.

    The title of a stand-in says that it is one, so that no copy of the table can hide it.

    `tier` and `name` may hold wildcards. As a parameter, so that a change of them shows the table anew, and
    a change of the rest of the card (conclusions, errata) does not.
    """

    def face(wildcards):
        paper, artefact = name.format(**wildcards).split("/")
        card = PAPERS[paper].artefacts[artefact].card
        look = card.model_dump(include={"title", "layout", "decimals", "beside"})
        declared = card.tiers[tier.format(**wildcards)]
        if declared.state == "stand_in":
            look["title"] = (
                f"STAND-IN, not the paper's data ({declared.name}): {card.title}"
            )
        return look

    return face


#: MB that Snakemake itself takes in a job of a cluster, where it runs twice around the script.
AROUND_A_JOB = 500


def memory(megabytes):
    """Memory of a rule whose script takes so many megabytes; each retry gets as much again.

    What was measured on one machine may be short on another one, and a cluster kills a job that
    takes more than it asked for.
    """

    def for_attempt(wildcards, attempt):
        return (megabytes + AROUND_A_JOB) * attempt

    return for_attempt


#: Rules for a GPU say so: `--resources gpu=1` keeps them from running side by side.
ON_GPU = {"mem_mb": memory(24000), "runtime": 2880, "gpu": 1}


def on_gpu_where(is_full, megabytes, minutes):
    """What several tiers ask for in one place: a GPU and more where `is_full` says so."""

    def either(name, small):
        def needed(wildcards, attempt):
            value = ON_GPU[name] if is_full(wildcards) else small
            return value(wildcards, attempt) if callable(value) else value

        return needed

    small = {"mem_mb": memory(megabytes), "runtime": minutes, "gpu": 0}
    return {name: either(name, value) for name, value in small.items()}


def resource(key):
    """Path of a released file in the cache, where `fetch` brings it."""
    return f"{SETTINGS.cache}/{key}"


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


def nugget_labels():
    """Labels of nuggets: in one file where a mirror or the cache has it, else the authors' tables.

    The tables are 83 MB, and the network has nothing else.
    """
    places = [Path(resource(CONDENSED))]
    mirror = SETTINGS.mirror_folder()
    if mirror is not None:
        places += [mirror / CONDENSED, mirror / f"{CONDENSED}.gz"]
    condensed = any(place.exists() for place in places)
    return [resource(key) for key in ([CONDENSED] if condensed else TABLES)]


def annotations(*groups):
    """Released files of groups of annotators, each group under its name."""
    files = ANNOTATION_FILES | SELECTION_FILES
    return {group: [resource(key) for key in files[group]] for group in groups}


def rated_dialogues(*parts):
    """Released files of both benchmarks of user satisfaction, as `BENCHMARK_part`."""
    return {
        f"{benchmark}_{part}": resource(files[part])
        for benchmark, files in RATING_FILES.items()
        for part in parts
    }


def counterfactual_dialogues():
    """Released test set of MultiWOZ, and what was generated from it."""
    return {part: resource(key) for part, key in CAUSE_FILES.items()}


#: The project's prompt for counterfactual utterances.
COUNTERFACTUAL_PROMPT = "src/everycell/dialogue/templates/counterfactual.txt"
#: Own files of the library that a job reads.
RAG = "src/everycell/rag"
#: The project's prompt for paraphrases.
PARAPHRASE_PROMPT = "src/everycell/rag/templates/paraphrase.txt"
#: How counterfactual utterances are generated, for the rules of both tiers.
GENERATION = {
    "model": SETTINGS.counterfactuals.model,
    "decoding": {
        "max_tokens": SETTINGS.counterfactuals.max_tokens,
        "temperature": SETTINGS.counterfactuals.temperature,
        "stop": SETTINGS.counterfactuals.stop,
    },
    "longest": SETTINGS.counterfactuals.longest,
    "seed": SETTINGS.seed,
}


def generation_inputs():
    """What generating takes beside dialogues: a model, a template, answers that are known."""
    return {
        "model": language_model_files(SETTINGS.counterfactuals.model),
        "template": SETTINGS.counterfactuals.template or COUNTERFACTUAL_PROMPT,
        "recorded": "recorded/abolghasemi2026_ch3.jsonl",
    }


#: Benchmark of chapter 5 of abolghasemi2026 -> its name in tables.
ATTRIBUTION_NAMES = {"nq": "NQ", "nq_full": "NQ", "msmarco_qa": "MS MARCO"}
#: Its retrievers and their runs; the first is that of all settings but those of Table 5.9.
ATTRIBUTION_RUNS = {
    "nq": {"BM25": "bm25", "SPLADE": "splade", "MiniLM": "dense"},
    "nq_full": {"BM25": "bm25", "uniCOIL": "unicoil", "TCT-ColBERT": "tct-colbert"},
    # Its passages come in an order of their own, which stands where the other has BM25's.
    "msmarco_qa": {"BM25": "published"},
}
#: Benchmarks of a tier.
ATTRIBUTION_BENCHMARKS = {"released": ["nq"], "full": ["nq_full", "msmarco_qa"]}


def attribution_runs(benchmark):
    """Runs of all retrievers of a benchmark."""
    return [
        f"work/attribution/{benchmark}/runs/{run}.run"
        for run in ATTRIBUTION_RUNS[benchmark].values()
    ]


def paraphrase_sizes(wildcards):
    """How many questions shall have all their passages said again, and which are tried."""
    asked = getattr(SETTINGS.attribution, wildcards.tier)
    tried = getattr(SETTINGS.attribution.paraphrases, wildcards.tier)
    counts = tried.model_dump(exclude={"model"})
    return {"k": asked.k, "questions": asked.questions.main} | counts


def paraphraser(wildcards):
    """The language model that says passages again."""
    tier = wildcards.tier
    model = getattr(SETTINGS.attribution.paraphrases, tier).model
    if model is None:
        raise WorkflowError(
            f"config.yaml: `attribution.paraphrases.{tier}.model` is null; name one of "
            "`language_models` that says passages again (docs/attribution.md has an example), or "
            "ask for another tier."
        )
    return model


def attribution_named(benchmark):
    """Files of a benchmark of the full tier, which only the user can name."""
    key, content = {
        "nq_full": ("nq", "a folder with questions.jsonl, passages.jsonl and runs"),
        "msmarco_qa": ("msmarco_qa", "the file dev_v2.1.json of MS MARCO QA"),
    }[benchmark]

    def files(wildcards):
        named = getattr(SETTINGS.attribution.full, key)
        if named is None or not os.path.exists(named):
            found = "null" if named is None else f"{named!r}, which is not there"
            raise WorkflowError(
                f"config.yaml: `attribution.full.{key}` is {found}; this tier needs {content} "
                "there, so name it (docs/attribution.md says what it holds), or ask for another "
                "tier."
            )
        if benchmark == "msmarco_qa":
            return {"published": named}
        parts = [QUESTIONS, PASSAGES]
        parts += [f"{run}.run" for run in ATTRIBUTION_RUNS[benchmark].values()]
        missing = [part for part in parts if not os.path.isfile(f"{named}/{part}")]
        if missing:
            raise WorkflowError(
                f"config.yaml: `attribution.full.nq` is {named!r}, which has no {missing[0]}; "
                "docs/attribution.md says what it holds."
            )
        return {"files": [f"{named}/{part}" for part in parts]}

    return files


def attribution_templates():
    """Prompts without and with authors, and people's names: the project's, or the user's own."""
    chosen = SETTINGS.attribution
    return {
        "template": chosen.template or f"{RAG}/templates/cited_answer.txt",
        "authors_template": chosen.authors_template
        or f"{RAG}/templates/cited_answer_authors.txt",
        "names": chosen.names or f"{RAG}/names.txt",
    }


def attribution_answers(tier, ending):
    """Answers to all benchmarks of a tier, of its language models and, in one, of the control."""

    def files(wildcards):
        models = getattr(SETTINGS.attribution, tier).models
        if not models:
            raise WorkflowError(
                f"config.yaml: `attribution.{tier}.models` names no language model; name some of "
                "`language_models` (docs/attribution.md has an example), or ask for another tier."
            )
        named = [
            f"work/attribution/{tier}/{benchmark}/answers/{model}.{ending}"
            for benchmark in ATTRIBUTION_BENCHMARKS[tier]
            for model in models
        ]
        # The control is no language model, and has no identity.
        if tier == "released" and ending == "parquet":
            named.append("work/attribution/released/nq/control.parquet")
        return named

    return files


def satisfaction_samples(wildcards):
    """Labelled dialogues of the wildcard's tier."""
    name = "planted" if wildcards.tier == "embedded" else "samples"
    return f"work/satisfaction/{name}.parquet"


def satisfaction_settings(wildcards):
    """Settings of the wildcard's kind of satisfaction estimator, in its tier."""
    settings = SETTINGS.user_satisfaction
    return getattr(
        settings.full if wildcards.tier == "full" else settings, wildcards.kind
    )


def satisfaction_encoder(wildcards):
    """Files of what an estimator starts from; none for a name on the hub.

    Without a GPU these are BERT-tiny, or MiniLM where it stays as it is.
    """
    if wildcards.tier == "full":
        return full_satisfaction_files()
    frozen = getattr(satisfaction_settings(wildcards), "frozen", False)
    return files_of_encoder("minilm" if frozen else "splade-tiny")


def full_satisfaction_files():
    """Files of the full tier's encoder where a folder is named; none for a name on the hub."""
    folder = Path(SETTINGS.user_satisfaction.full.model)
    if not folder.is_dir():
        return []
    return encoder_files_in(folder, "user_satisfaction.full.model")


def satisfaction_model(wildcards):
    """The model of the full tier, by its name on the hub."""
    full = SETTINGS.user_satisfaction.full
    return {
        "source": full.model,
        "revision": full.revision,
        "network": SETTINGS.network,
    }


def satisfaction_answers(wildcards):
    """What trained estimators said of all samples."""
    # Looked at here, since Snakemake takes an error in a rule further up for a reason to try another.
    if wildcards.tier == "full":
        full_satisfaction_files()
    kinds = ("bert", "asap")
    return [f"work/satisfaction/{wildcards.tier}/{kind}.parquet" for kind in kinds]


def few_shot_answers(wildcards):
    """Labels of a language model, and which model it was; in the released tier alone."""
    if wildcards.tier != "released":
        return []
    return [
        "work/satisfaction/released/few_shot.parquet",
        "work/satisfaction/released/few_shot.provenance.json",
    ]


def satisfaction_training(wildcards):
    """How an estimator is trained, in the words of `everycell.learning`."""
    chosen = satisfaction_settings(wildcards)
    names = ("steps", "batch", "learning_rate", "validations")
    options = {name: getattr(chosen, name) for name in names}
    if wildcards.tier == "embedded":
        options["steps"] = SETTINGS.user_satisfaction.planted.steps
    return options


def satisfaction_sizes(wildcards):
    """What an estimator reads of a dialogue, and its own sizes."""
    chosen = satisfaction_settings(wildcards).model_dump()
    other = ("steps", "batch", "learning_rate", "validations", "samples", "frozen")
    return {name: value for name, value in chosen.items() if name not in other}


#: Setups that the thesis does not have: it hopes for the first; the second is a control.
AUGMENTED, CONTROL = "with counterfactuals", "without apologies"


def satisfaction_setups():
    """Setups of Table 3.6 by name, and two more: how often a dissatisfied sample stands, and so on.

    The control is one of the thesis' setups, but for the apologies in what it learns from.
    """
    factors = SETTINGS.user_satisfaction.upsampling
    plain = {"counterfactuals": False, "without_apologies": False}
    setups = {
        "w/o up-sampling" if factor == 1 else f"up-sampling x{factor}": plain
        | {"factor": factor}
        for factor in factors
    }
    setups[AUGMENTED] = plain | {"factor": 1, "counterfactuals": True}
    middle = list(setups)[len(factors) // 2]
    setups[f"{middle}, {CONTROL}"] = setups[middle] | {"without_apologies": True}
    return setups


def vocabulary_of(wildcards):
    """Vocabulary of a tokenisation into word pieces; none for the others.

    The embedded tier takes BERT's from the wheel of a model, since it can fetch nothing.
    """
    name = tokenisation_of(wildcards)
    if name not in VOCABULARIES:
        return []
    if wildcards.collection == "pydocs":
        return resource("minilm/vocab.txt")
    return resource(VOCABULARIES[name])


def tokenisation_of(wildcards):
    """Name of the tokenisation, whether or not documents are cut."""
    return wildcards.tokens.removesuffix("-cut")


def first_terms_of(wildcards):
    """Terms after which a text is cut: what an encoder sees of it, or None for all."""
    # Without the two special pieces.
    return (
        SETTINGS.query_by_example.lengths.text - 2
        if wildcards.tokens.endswith("-cut")
        else None
    )


#: Tasks of each query-by-example collection, and where the negatives of its main lists come from.
COLLECTIONS = {
    "pydocs": {"tasks": ["cite", "co-cite", "coupling"], "setting": "package"},
    "cacm": {"tasks": ["cite", "co-cite", "coupling"], "setting": "mixed"},
    "scidocs": {
        "tasks": ["co-view", "co-read", "co-cite", "cite"],
        "setting": "published",
    },
}


def tasks_of(wildcards):
    """Tasks of the wildcard's collection."""
    return COLLECTIONS[wildcards.collection]["tasks"]


def setting_of(wildcards):
    """Main candidate lists of the wildcard's collection."""
    return COLLECTIONS[wildcards.collection]["setting"]


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


def answerability_labels():
    """Released labels of passages and sentences of both halves of CAsT-answerability."""
    return {
        part: resource(ANSWERABILITY_FILES[part])
        for part in (
            "snippets",
            "unanswerable",
            "snippets_sentences",
            "unanswerable_sentences",
        )
    }


def classifier_settings(wildcards):
    """How a classifier of sentences is trained, in the words of `everycell.learning.training`."""
    settings = SETTINGS.answerability
    chosen = settings.tiny if wildcards.classifier == "tiny" else settings.full
    kept = chosen.model_dump(exclude={"model", "revision", "squad", "batch"})
    return kept | {"batch_size": chosen.batch}


def classifier_model(wildcards):
    """The model that a classifier of the full tier starts from, by its name on the hub."""
    full = SETTINGS.answerability.full
    return {
        "name": full.model,
        "revision": full.revision,
        "network": SETTINGS.network,
    }


def classifier_files(wildcards):
    """Files of the encoder that a classifier starts from; none for a name on the hub."""
    if wildcards.classifier == "tiny":
        return files_of_encoder("splade-tiny")
    return full_classifier_files()


def full_classifier_files():
    """Files of the thesis' encoder where a folder is named; none for a name on the hub."""
    folder = Path(SETTINGS.answerability.full.model)
    if not folder.is_dir():
        return []
    return encoder_files_in(folder, "answerability.full.model")


def classifier_squad(wildcards):
    """File of SQuAD 2.0, for the classifier that is trained on it too."""
    return squad_file() if wildcards.classifier == "squad" else []


def squad_file():
    """File of SQuAD 2.0, which only the user can name."""
    named = SETTINGS.answerability.full.squad
    if named is None or not os.path.isfile(named):
        found = "null" if named is None else f"{named!r}, which is no file"
        raise WorkflowError(
            f"config.yaml: `answerability.full.squad` is {found}; this tier needs train-v2.0.json "
            "of SQuAD 2.0 there, so name it (docs/papers/lajewska2025.md), or ask for another tier."
        )
    return named


def classifier_scores(*classifiers):
    """Probabilities that each classifier gives sentences, by its name."""
    return {name: f"work/answerability/{name}.scores.parquet" for name in classifiers}


def full_classifier_scores(wildcards):
    """Those of the thesis' classifiers.

    What only the user can name is looked at here, since Snakemake takes an error in a rule further
    up for a reason to try another one.
    """
    squad_file()
    full_classifier_files()
    return classifier_scores("full", "squad")


def files_of_named_encoder(key):
    """Files of the encoder whose folder stands under this key of the configuration."""
    folder = named_folder(
        f"encoders.{key}",
        "a BERT in safetensors with its tokenizer",
        "query-by-example.md",
    )
    return encoder_files_in(folder, f"query_by_example.encoders.{key}")


def encoder_files_in(folder, key):
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
                "with a BERT in safetensors and its tokenizer."
            )
    return [str(file) for file in found]


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


def rewriter_source(wildcards):
    """Name or folder of the wildcard's rewriter."""
    key = wildcards.rewriter.removesuffix("-org")
    source = getattr(SETTINGS.cast_systems.rewriters, key)
    if source is None:
        raise WorkflowError(
            f"config.yaml: `cast_systems.rewriters.{key}` is null; this rewriter needs a T5 there, "
            "so name its folder or its name on the hub, or ask for another rewriter."
        )
    return source


def runs_of_2020(wildcards):
    """The authors' runs of CAsT 2020 behind the wildcard's table, in the folder of the user."""
    folder = SETTINGS.cast_systems.runs_2020
    if folder is None or not os.path.isdir(folder):
        found = "null" if folder is None else f"{folder!r}, which is no folder"
        raise WorkflowError(
            f"config.yaml: `cast_systems.runs_2020` is {found}; this tier needs the authors' runs "
            "of 2020 there, so name their folder (docs/papers/lajewska2025.md says what it holds), "
            "or ask for another tier."
        )
    runs = []
    for run in CAST_SYSTEMS[wildcards.number].values():
        found = [Path(folder) / f"{run}_2020.trec{end}" for end in ("", ".gz")]
        found = [path for path in found if path.exists()]
        if not found:
            raise WorkflowError(
                f"config.yaml: `cast_systems.runs_2020` is {folder!r}, which has no "
                f"{run}_2020.trec(.gz); unpack the authors' {run}_2020.trec.tar.gz there."
            )
        runs.append(str(found[0]))
    return runs


def full_model_files(wildcards):
    """What encodes SciDocs for a ranker: a model of one task, or one from MS MARCO as it is."""
    if wildcards.trained_on == "zero-shot":
        return files_of_named_encoder(f"{wildcards.kind}_{wildcards.encoder}")
    return "work/scidocs/models/{kind}.{encoder}.{trained_on}".format(**wildcards)


def length_of(wildcards):
    """Word pieces that a ranker reads of a text."""
    if wildcards.collection == "nq":
        return SETTINGS.attribution.nq.length
    lengths = SETTINGS.query_by_example.lengths
    return lengths.zero_shot if wildcards.model.endswith(".zero-shot") else lengths.text


def proposals_of(wildcards):
    """Likely terms that TILDE finds for each document: as many as any expansion takes."""
    if wildcards.kind != "tilde":
        return 0
    return max(SETTINGS.query_by_example.expansion)


def model_files(wildcards):
    """What encodes for a ranker: a model that is trained here, or one as it comes."""
    encoder, _, trained_on = wildcards.model.partition(".")
    if trained_on == "zero-shot":
        return files_of_encoder(encoder)
    return f"work/{wildcards.collection}/models/{wildcards.kind}.{wildcards.model}"


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


#: What a swap of genders goes by. As an input of rules, so that their receipts name it.
GENDER_PAIRS = "src/everycell/text/gender_pairs.yaml"


def is_cast(wildcards):
    """Whether the models were trained on folds of the wildcard's collection."""
    return wildcards.collection.startswith("cast")


def folds_for(wildcards):
    """Folds whose models rank the wildcard's collection: one serves a collection new to it."""
    return FOLDS if is_cast(wildcards) else FOLDS[:1]


def fold_models(wildcards):
    """Models that rank the wildcard's collection."""
    return [
        f"work/cast/models/cross-encoder.{wildcards.encoder}.fold-{fold}"
        for fold in folds_for(wildcards)
    ]


def fold_queries(wildcards):
    """Queries of each fold, with the split that its model saw."""
    return [f"work/cast/folds/{fold}/queries.parquet" for fold in folds_for(wildcards)]


def baseline_of(wildcards):
    """Ranker that the others are compared with."""
    return None if wildcards.tier == "embedded" else "BM25"


def measured_files(folders, rankers):
    """Runs and counts of a tier's query sets; `folders` is folder -> what its files end with."""
    if any("msmarco" in folder for folder, _ in folders):
        check_msmarco(rankers)
    return {
        "runs": [
            f"{folder}/runs/{ranker}{suffix}.run"
            for folder, suffix in folders
            for ranker in rankers
        ],
        "counts": [f"{folder}/counts.parquet" for folder in dict(folders)],
    }


def fairness_inputs(wildcards):
    """What Table 4.1 of abolghasemi2026 rests on: runs, counts and judgements of a tier."""
    sets = [place[:2] for place in MEASURED_SETS[wildcards.tier].values()]
    files = measured_files(sets, [run for *_, run in RANKERS[wildcards.tier]])
    if wildcards.tier != "embedded":
        files["qrels"] = [f"{folder}/qrels{suffix}.parquet" for folder, suffix in sets]
    return files


#: Results of attribution bias that a tier makes of its answers, beside Table 5.1. Other ones of the
#: embedded tier follow from printed tables; MS MARCO is the full tier's.
ATTRIBUTION_RESULTS = {
    "embedded": ["table_5_2", "table_5_4", "table_5_6", "figure_5_9"],
    "released": [
        *(f"table_5_{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 12, 14)),
        "figure_5_5",
        "figure_5_9",
    ],
    "full": [
        *(f"table_5_{number}" for number in range(2, 16)),
        "figure_5_5",
        "figure_5_9",
    ],
}
#: What stands beside Table 5.1: name -> whether it is a figure.
ATTRIBUTION_BESIDE = {
    "embedded": {
        "intervals": False,
        "answers": False,
        "truth": False,
        "bias": False,
        "questions": False,
        "planted": True,
        "cited": True,
    },
    "released": {"intervals": False, "answers": False, "truth": False, "bias": False},
    "full": {"intervals": False, "answers": False},
}


def attribution_outputs(tier):
    """Files of all results of attribution bias that a tier makes of its answers."""
    files = table_files(tier, "abolghasemi2026/table_5_1")
    for part, figure in ATTRIBUTION_BESIDE[tier].items():
        files |= beside(tier, "abolghasemi2026/table_5_1", part, figure=figure)
    for name in ATTRIBUTION_RESULTS[tier]:
        kind = table_files if name.startswith("table") else figure_files
        files |= further(kind, tier, f"abolghasemi2026/{name}")
    return files


def attribution_faces(tier):
    """What the cards say of these tables."""
    names = [name for name in ATTRIBUTION_RESULTS[tier] if name.startswith("table")]
    return {"face": face_of(tier, "abolghasemi2026/table_5_1")} | {
        f"{name}_face": face_of(tier, f"abolghasemi2026/{name}") for name in names
    }


def overlap_inputs(wildcards):
    """What Table 4.2 rests on: runs before and after the exchange, and counts."""
    places = COUNTERFACTUALS[wildcards.tier].values()
    rankers = [run for _, run in OVERLAP_ROWS[wildcards.tier]]
    files = measured_files([(folder, suffix) for folder, _, suffix in places], rankers)
    files["counterfactuals"] = [
        f"{counterfactual}/runs/{ranker}{suffix}.run"
        for _, counterfactual, suffix in places
        for ranker in rankers
    ]
    return files


def depth_inputs(tier):
    """What Figure 4.2 rests on, where rankers made the runs."""
    sets = [place[:2] for place in MEASURED_SETS[tier].values()]
    rankers = [run for *_, run in RANKERS[tier]]
    return lambda wildcards: measured_files(sets, rankers)


def depth_systems(tier):
    """Systems of Figure 4.2: query set, collection, run, name."""
    return [
        (query_set, folder.removeprefix("work/"), run + suffix, name)
        for query_set, (folder, suffix, _) in MEASURED_SETS[tier].items()
        for _, name, run in RANKERS[tier]
    ]


def of_tier(table):
    """An entry of a table by tier, as a parameter."""
    return lambda wildcards: table[wildcards.tier]


def shown(path, tier, name):
    """A result that the Snakemake report shows, with a caption that prints its parameters."""
    paper, _, artefact = name.rpartition("/")
    kind, _, number = artefact.partition("_")
    return report(
        path,
        caption=f"{workflow.basedir}/workflow/report/result.rst",
        category=paper or "all papers",
        labels={
            "artefact": f"{kind.capitalize()} {number.replace('_', '.')}",
            "tier": tier,
        },
    )


def table_files(tier, name):
    """Files of a table: full precision, three shown forms, and the receipt."""
    stem = f"results/{tier}/{name}"
    return {form: f"{stem}.{form}" for form in ("csv", "md", "tex")} | {
        "html": shown(f"{stem}.html", tier, name),
        "receipt": f"{stem}.receipt.json",
    }


def figure_files(tier, name):
    """Files of a figure: what it plots, three pictures, and the receipt."""
    stem = f"results/{tier}/{name}"
    return {form: f"{stem}.{form}" for form in ("csv", "pdf", "png")} | {
        "svg": shown(f"{stem}.svg", tier, name),
        "receipt": f"{stem}.receipt.json",
    }


def further(files, tier, name):
    """Files of a further artefact of a job, under output names that start with its own."""
    start = name.rpartition("/")[2]
    return {f"{start}_{part}": path for part, path in files(tier, name).items()}


def beside(tier, name, part, *, figure=False):
    """Files that stand beside an artefact's own, under output names that start with `part`."""
    files = (figure_files if figure else table_files)(tier, f"{name}.{part}")
    return {f"{part}_{form}": path for form, path in files.items() if form != "receipt"}


def verdict_file(artefact, tier):
    """Verdicts of an artefact in a tier."""
    return f"results/{tier}/{artefact.id}.verdicts.json"


def runnable(tier, *, paper=None, chapter=None):
    """Artefacts that a tier can rebuild or stand in for, as a list of verdict files."""
    return [
        verdict_file(artefact, tier)
        for artefact in all_artefacts(PAPERS)
        if (paper is None or artefact.paper == paper)
        and (chapter is None or artefact.chapter == chapter)
        and tier in artefact.card.tiers
        and artefact.card.tiers[tier].state in RUNNABLE
    ]


def here(**selection):
    """As `runnable`, for the tiers that need neither a GPU nor hours."""
    return runnable("embedded", **selection) + runnable("released", **selection)


def below(folder, *suffixes):
    """Files below a folder whose names end so; all, where no ending is given."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return [
        str(path)
        for path in paths
        if path.name.endswith(suffixes or "") and "__pycache__" not in path.parts
    ]


def hash_of_shown_results(wildcards):
    """Hash of what the site shows of the results that lie on disk."""
    found = hashlib.sha256()
    for tier in TIERS:
        for path in below(f"results/{tier}", ".verdicts.json", ".md", ".svg"):
            content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            found.update(f"{content} {path}\n".encode())
    return found.hexdigest()


def published():
    """Every card and every file of printed cells."""
    return below("published", ".csv", ".yaml")


def printed_cells(wildcards):
    """Printed cells of an artefact, where there are any."""
    cells = f"published/{wildcards.paper}/{wildcards.artefact}.csv"
    return cells if os.path.exists(cells) else []


def card_file(wildcards):
    """File with the artefact's card."""
    return str(PAPERS[wildcards.paper].artefacts[wildcards.artefact].card_path)


def requested_verdicts(wildcards):
    """Verdict files of the targets of this run: what the page must wait for.

    Results of other tiers that lie on disk are shown too, but are not made for it.
    """
    asked = [target for target in workflow.dag_settings.targets if target in TARGETS]
    return sorted(
        {file for target in asked or ["embedded"] for file in TARGETS[target]}
    )
