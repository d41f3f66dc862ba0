# heuss2025, chapter 4: feature attributions of rankings (RankingSHAP).
# Talent search: published candidates and universities -> ranks; all coalitions of five features ->
# attributions of lists and of single candidates -> figures.


include: "ch4_inputs.smk"


# Table 4.A.3: ranks of the candidates.
use rule table as heuss2025_ch4_ranks with:
    input:
        **TALENT_SEARCH,
    output:
        **table_files(tables=["rankers"]),
    pathvars:
        result="embedded/heuss2025/table_4_A_3",
    params:
        **runs("heuss2025/ch4/ranks"),
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
        choices="work/heuss2025/ch4/choices.parquet",
        spread="work/heuss2025/ch4/spread.parquet",
    pathvars:
        job="heuss2025/ch4/attributions",
    params:
        **runs("heuss2025/ch4/attributions"),
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
        **runs("heuss2025/ch4/lists"),
    message:
        "Attributions of lists by three explainers (Figure {wildcards.number})"


# Figure 4.B.2: the same for the unbiased model.
use rule figure as heuss2025_ch4_unbiased with:
    input:
        lists="work/heuss2025/ch4/lists.parquet",
    pathvars:
        result="embedded/heuss2025/figure_4_B_2",
    params:
        **runs("heuss2025/ch4/unbiased"),
    message:
        "Attributions of lists under the unbiased model (Figure 4.B.2)"


# Figures 4.3, 4.B.3 and 4.B.4: single candidates.
use rule figure as heuss2025_ch4_candidates with:
    input:
        candidates="work/heuss2025/ch4/candidates.parquet",
    pathvars:
        result="embedded/heuss2025/figure_{number}",
    wildcard_constraints:
        number="|".join(CANDIDATE_FIGURES),
    params:
        **runs("heuss2025/ch4/candidates"),
    message:
        "Attributions of single candidates (Figure {wildcards.number})"
