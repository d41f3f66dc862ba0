# heuss2025, chapter 4: feature attributions of rankings (RankingSHAP).
# Talent search: published candidates and universities -> ranks; all coalitions of five features ->
# attributions of lists and of single candidates -> figures. Faithfulness: lists with features
# (planted, from runs, or released) -> LambdaRank -> explanations -> preservation and deletion.


include: "ch4_inputs.smk"


# Table 4.1: features, as the explainers draw them.
use rule table as heuss2025_ch4_features with:
    input:
        universities=TALENT_SEARCH["universities"],
    pathvars:
        result="embedded/heuss2025/table_4_1",
    params:
        **runs("heuss2025/ch4_example:features"),
        declared=declared_inputs("embedded", "heuss2025", "table_4_A_2"),
        samples=3000,
        seed=SETTINGS.seed,
    message:
        "Features of the candidates (Table 4.1)"


# Table 4.A.1: candidates, with their scores.
use rule table as heuss2025_ch4_candidate_values with:
    input:
        **TALENT_SEARCH,
    output:
        **table_files(tables=["scores"]),
    pathvars:
        result="embedded/heuss2025/table_4_A_1",
    params:
        **runs("heuss2025/ch4_example:candidate_values"),
        declared=TALENT_SEARCH_CELLS,
    message:
        "Values of the candidates (Table 4.A.1)"


# Table 4.A.2: universities.
use rule table as heuss2025_ch4_universities with:
    input:
        universities=TALENT_SEARCH["universities"],
    pathvars:
        result="embedded/heuss2025/table_4_A_2",
    params:
        **runs("heuss2025/ch4_example:university_values"),
        declared=declared_inputs("embedded", "heuss2025", "table_4_A_2"),
    message:
        "Grades and bias of the universities (Table 4.A.2)"


# Table 4.A.3: ranks of the candidates.
use rule table as heuss2025_ch4_ranks with:
    input:
        **TALENT_SEARCH,
    output:
        **table_files(tables=["rankers"]),
    pathvars:
        result="embedded/heuss2025/table_4_A_3",
    params:
        **runs("heuss2025/ch4:ranks"),
        declared=TALENT_SEARCH_CELLS,
    message:
        "Ranks of the candidates (Table 4.A.3)"


# All attributions in the figures, by enumeration of coalitions.
use rule step as heuss2025_ch4_attributions with:
    input:
        **TALENT_SEARCH,
    output:
        lists="work/heuss2025/ch4/lists.parquet",
        candidates="work/heuss2025/ch4/candidates.parquet",
        objectives="work/heuss2025/ch4/objectives.parquet",
        choices="work/heuss2025/ch4/choices.parquet",
        spread="work/heuss2025/ch4/spread.parquet",
    pathvars:
        job="heuss2025/ch4/attributions",
    params:
        **runs("heuss2025/ch4_attributions:attributions"),
        declared=TALENT_SEARCH_CELLS,
        samples=3000,
        # The thesis draws 100 samples; a supplementary table shows the spread of such draws.
        samples_of_text=100,
        draws=20,
        seed=SETTINGS.seed,
    message:
        "Attributions of the talent search"


# Figures 4.2 and 4.B.1: complete lists.
use rule figure as heuss2025_ch4_lists with:
    input:
        lists="work/heuss2025/ch4/lists.parquet",
        choices="work/heuss2025/ch4/choices.parquet",
        spread="work/heuss2025/ch4/spread.parquet",
    output:
        **figure_files(tables=["choices", "spread"]),
    pathvars:
        result="embedded/heuss2025/figure_{number}",
    wildcard_constraints:
        number="|".join(LIST_FIGURES),
    params:
        **runs("heuss2025/ch4:lists"),
    message:
        "Attributions of lists by three explainers (Figure {wildcards.number})"


# Figure 4.B.2: the same for the unbiased model.
use rule figure as heuss2025_ch4_unbiased with:
    input:
        lists="work/heuss2025/ch4/lists.parquet",
    pathvars:
        result="embedded/heuss2025/figure_4_B_2",
    params:
        **runs("heuss2025/ch4:unbiased"),
    message:
        "Attributions of lists under the unbiased model (Figure 4.B.2)"


# Figures 4.3 and 4.B.4: single candidates.
use rule figure as heuss2025_ch4_candidates with:
    input:
        candidates="work/heuss2025/ch4/candidates.parquet",
    pathvars:
        result="embedded/heuss2025/figure_{number}",
    wildcard_constraints:
        number="4_3|4_B_4",
    params:
        **runs("heuss2025/ch4:candidates"),
    message:
        "Attributions of single candidates (Figure {wildcards.number})"


# Figure 4.B.3: the same, with both objectives for a single candidate.
use rule figure as heuss2025_ch4_all_candidates with:
    input:
        candidates="work/heuss2025/ch4/candidates.parquet",
        objectives="work/heuss2025/ch4/objectives.parquet",
    output:
        **figure_files(tables=["objectives"]),
    pathvars:
        result="embedded/heuss2025/figure_{number}",
    wildcard_constraints:
        number="4_B_3",
    params:
        **runs("heuss2025/ch4:candidates"),
    message:
        "Attributions of all single candidates (Figure 4.B.3)"


# Lists with labels that depend on known features.
use rule step as heuss2025_ch4_planted with:
    output:
        train="work/heuss2025/ch4/planted/train.parquet",
        test="work/heuss2025/ch4/planted/test.parquet",
    pathvars:
        job="heuss2025/ch4/planted_features",
    params:
        **runs("heuss2025/ch4_features:planted"),
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
        **runs("heuss2025/ch4_features:retrieval_features"),
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
        **runs("heuss2025/ch4_features:letor"),
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
        **runs("heuss2025/ch4_training:train"),
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
        **where(
            lambda wildcards: wildcards.data in EXPLAINED_DATA["full"],
            needs(24000, 2880),
            needs(1500, 20),
        ),
    params:
        **runs("heuss2025/ch4_explanations:explanations"),
        lists=lambda wildcards: EXPLAINED.explained_lists.get(wildcards.data),
        background=lambda wildcards: EXPLAINED.background.get(wildcards.data, 100),
        lime_samples=lambda wildcards: EXPLAINED.lime_samples.get(wildcards.data, 5000),
        seed=SETTINGS.seed,
    message:
        "Explanations and their checks ({wildcards.data})"


# Figure 4.4.
use rule figure as heuss2025_ch4_faithfulness with:
    input:
        checks=explained_data_files("checks"),
        attributions=explained_data_files("attributions"),
    output:
        **figure_files(tables=["differences", "lime", "ratios", "features"]),
    pathvars:
        result="{tier}/heuss2025/figure_4_4",
    wildcard_constraints:
        tier="embedded|released|full",
    params:
        **runs("heuss2025/ch4:faithfulness"),
        names=lambda wildcards: list(explained_data(wildcards.tier).values()),
        bootstrap=2000,
        seed=SETTINGS.seed,
    message:
        "Preservation and deletion (Figure 4.4, {wildcards.tier})"


# Figure 4.1: the two models of the talent search.
use rule figure as heuss2025_ch4_data_flow with:
    input:
        **TALENT_SEARCH,
    pathvars:
        result="embedded/heuss2025/figure_4_1",
    params:
        **runs("heuss2025/ch4_examples:data_flow"),
        declared=TALENT_SEARCH_CELLS,
        # One from a disfavoured university, and one from a favoured one.
        candidates=["qual-biased", "privileged"],
    message:
        "Scores of the biased and the unbiased model (Figure 4.1)"
