# heuss2025, section 4.6: faithfulness of explanations of ranked lists.
# Lists with features (planted, from runs, or released) -> LambdaRank -> explanations by eight
# explainers -> preservation and deletion -> Figure 4.4.


# Lists with labels that depend on known features.
use rule step as heuss2025_ch4_planted with:
    output:
        train="work/heuss2025/ch4/planted/train.parquet",
        test="work/heuss2025/ch4/planted/test.parquet",
    pathvars:
        job="heuss2025/ch4/planted_features",
    params:
        **runs("heuss2025/ch4/planted_features"),
        lists=EXPLAINED.planted_lists,
        seed=SETTINGS.seed,
    message:
        "Lists with planted features"


# Candidates of pydocs, with features from runs and terms.
use rule step as heuss2025_ch4_retrieval_features with:
    input:
        candidates="work/pydocs/candidates.parquet",
        queries="work/pydocs/tokens/STM2/queries.parquet",
        documents="work/pydocs/tokens/STM2/documents.parquet",
        runs=[f"work/pydocs/runs/{run}.run" for run in RUNS_OF_FEATURES.values()],
    output:
        train="work/heuss2025/ch4/pydocs/train.parquet",
        test="work/heuss2025/ch4/pydocs/test.parquet",
    pathvars:
        job="heuss2025/ch4/retrieval_features",
    params:
        **runs("heuss2025/ch4/retrieval_features"),
        features=list(RUNS_OF_FEATURES),
        setting="package",
        task="cite",
    message:
        "Features of candidates (pydocs)"


# Lists in LETOR format: released files, or a fold in the user's folder.
use rule step as heuss2025_ch4_letor with:
    input:
        unpack(letor_parts),
    output:
        train="work/heuss2025/ch4/{data}/train.parquet",
        test="work/heuss2025/ch4/{data}/test.parquet",
    pathvars:
        job="heuss2025/ch4/letor_{data}",
    wildcard_constraints:
        data="|".join(LETOR_FEATURES),
    resources:
        mem_mb=lambda wildcards, attempt: memory(
            12000 if wildcards.data == "mslr_web10k" else 1000
        )(wildcards, attempt),
        runtime=lambda wildcards: 60 if wildcards.data == "mslr_web10k" else 10,
    params:
        **runs("heuss2025/ch4/letor_features"),
        features=lambda wildcards: LETOR_FEATURES[wildcards.data],
    message:
        "Features of {wildcards.data}"


# The ranker.
use rule cached_step as heuss2025_ch4_train with:
    input:
        train="work/heuss2025/ch4/{data}/train.parquet",
    output:
        model="work/heuss2025/ch4/{data}/model.txt",
    pathvars:
        job="heuss2025/ch4/train_{data}",
    cache: True
    conda:
        environment("base")
    resources:
        **needs(1000, 10),
    params:
        **runs("heuss2025/ch4/train_forest"),
        seed=SETTINGS.seed,
    message:
        "LambdaRank ({wildcards.data})"


# Explanations of test lists by all explainers, and checks of them.
use rule step as heuss2025_ch4_explanations with:
    input:
        train="work/heuss2025/ch4/{data}/train.parquet",
        test="work/heuss2025/ch4/{data}/test.parquet",
        model="work/heuss2025/ch4/{data}/model.txt",
    output:
        attributions="work/heuss2025/ch4/{data}/attributions.parquet",
        checks="work/heuss2025/ch4/{data}/checks.parquet",
    pathvars:
        job="heuss2025/ch4/explanations_{data}",
    resources:
        **needs(1500, 20),
    params:
        **runs("heuss2025/ch4/explanations"),
        lists=lambda wildcards: EXPLAINED.explained_lists.get(wildcards.data),
        background=lambda wildcards: EXPLAINED.background.get(wildcards.data, 100),
        lime_samples=EXPLAINED.lime_samples,
        seed=SETTINGS.seed,
    message:
        "Explanations and their checks ({wildcards.data})"


# Figure 4.4.
use rule figure as heuss2025_ch4_faithfulness with:
    input:
        checks=explained_data_files("checks"),
        attributions=explained_data_files("attributions"),
    output:
        **figure_files(tables=["differences", "ratios", "features"]),
    pathvars:
        result="{tier}/heuss2025/figure_4_4",
    wildcard_constraints:
        tier="embedded|released|full",
    params:
        **runs("heuss2025/ch4/faithfulness"),
        names=lambda wildcards: list(explained_data(wildcards.tier).values()),
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Preservation and deletion (Figure 4.4, {wildcards.tier})"
