# heuss2025, chapter 2: fair exposure when exposure is partly unknown (FELIX).
# Lists (released, or simulated with planted outliers) -> ListNet with several seeds -> policies for
# each list -> measures -> tables.


include: "ch2_inputs.smk"


# Table 2.1: lengths of lists and numbers of relevant items.
use rule table as heuss2025_ch2_lists with:
    input:
        **fair_lists(*FAIR_DATASETS),
    output:
        **table_files(tables=["lists"]),
    pathvars:
        result="released/heuss2025/table_2_1",
    params:
        **runs("heuss2025/ch2:lists"),
    message:
        "Lists of TREC Fair Ranking (Table 2.1)"


# Section 2.5: numbers of lists stated in the text.
use rule table as heuss2025_ch2_list_numbers with:
    input:
        **fair_lists(*FAIR_DATASETS),
    pathvars:
        result="released/heuss2025/text_2_5",
    params:
        **runs("heuss2025/ch2:list_numbers"),
    message:
        "Numbers of lists of TREC Fair Ranking (section 2.5)"


# Surrogates of the released lists, with known outliers.
use rule step as heuss2025_ch2_planted with:
    output:
        train="work/heuss2025/ch2/planted/{dataset}_train.csv",
        test="work/heuss2025/ch2/planted/{dataset}_test.csv",
    pathvars:
        job="heuss2025/ch2/planted/{dataset}",
    wildcard_constraints:
        dataset="|".join(FAIR_DATASETS),
    params:
        **runs("heuss2025/ch2_training:planted"),
        lists=FAIR_EXPOSURE.planted_lists,
        seed=SETTINGS.seed,
    message:
        "Lists with planted outliers ({wildcards.dataset})"


# Scores of the test lists by the ranker, a small network trained with several seeds.
use rule cached_step as heuss2025_ch2_train with:
    input:
        train=lists_of_dataset("train"),
        test=lists_of_dataset("test"),
    output:
        scores="work/heuss2025/ch2/{tier}/{dataset}.parquet",
    pathvars:
        job="heuss2025/ch2/{tier}/{dataset}",
    wildcard_constraints:
        tier="embedded|released",
        dataset="|".join(FAIR_DATASETS),
    cache: True
    resources:
        **needs(700, 10),
    params:
        **runs("heuss2025/ch2_training:train"),
        readings=FAIR_EXPOSURE.readings,
        seeds=number_of_trainings,
        seed=SETTINGS.seed,
        # The seed in the authors' code for drawing items that fill up short lists.
        draw=71,
    message:
        "Training ListNet ({wildcards.dataset}, {wildcards.tier})"


# Policies for each test list and their measures, for the top ten ranks and for full rankings.
use rule step as heuss2025_ch2_policies with:
    input:
        scores="work/heuss2025/ch2/{tier}/{dataset}.parquet",
    output:
        measures="work/heuss2025/ch2/{tier}/table_2_{number}.{dataset}.parquet",
    pathvars:
        job="heuss2025/ch2/{tier}/table_2_{number}.{dataset}",
    wildcard_constraints:
        tier="embedded|released",
        dataset="|".join(FAIR_DATASETS),
        number="|".join(RANKS),
    resources:
        **needs(600, 30),
    params:
        **runs("heuss2025/ch2_policies:policies"),
        setup=policy_setup,
        seed=SETTINGS.seed,
    message:
        "Policies and their measures ({wildcards.dataset}, Table 2.{wildcards.number}, {wildcards.tier})"


# Tables 2.2 and 2.3.
use rule table as heuss2025_ch2_tables with:
    input:
        expand(
            "work/heuss2025/ch2/{{tier}}/table_2_{{number}}.{dataset}.parquet",
            dataset=FAIR_DATASETS,
        ),
    output:
        **table_files(tables=["epochs", "tests", "seeds"]),
    pathvars:
        result="{tier}/heuss2025/table_2_{number}",
    wildcard_constraints:
        tier="embedded|released",
        number="|".join(RANKS),
    params:
        **runs("heuss2025/ch2:tables"),
        readings=readings_of_tier,
        alpha=0.05,
    message:
        "Policies and outliers (Table 2.{wildcards.number}, {wildcards.tier})"


# Section 2.7: probability of an outlier among ten random items.
use rule table as heuss2025_ch2_chances with:
    pathvars:
        result="embedded/heuss2025/text_2_7",
    params:
        **runs("heuss2025/ch2_simulation:chances"),
        lists=1_000_000,
        length=10,
        seed=SETTINGS.seed,
    message:
        "Probability of an outlier among ten random items (section 2.7)"


# Figure 2.2, with supplements on the choice of matrix and matching, and on the distance from the
# optimum.
use rule figure as heuss2025_ch2_simulation with:
    output:
        **figure_files(tables=["changes", "choices", "bounds"]),
    pathvars:
        result="embedded/heuss2025/figure_2_2",
    resources:
        **needs(600, 10),
    params:
        **runs("heuss2025/ch2_simulation:simulation"),
        seed=SETTINGS.seed,
        # From the text (L790-798); the numbers of items and of iterations are from the code.
        analysis=dict(
            candidates=[10, 15, 20, 40, 60, 80, 100, 140, 200],
            iterations=[1, 2, 3, 5, 9, 17, 33],
            at_candidates=100,
            at_iterations=20,
            lists=FAIR_EXPOSURE.simulated_lists,
            ranks=10,
            steps={
                "candidates": [(10, 40), (40, 100), (100, 200)],
                "iterations": [(1, 5), (5, 17), (17, 33)],
            },
        ),
        choices=dict(
            items=40,
            lists=FAIR_EXPOSURE.compared_lists,
            ranks=10,
            iterations=[1, 5, 20],
            rules=["row_first", "column_first", "assignment"],
        ),
        # Numbers of items and ranks; the first is small enough to enumerate all sets of items.
        bounds=dict(
            sizes=[(11, 8), (15, 10), (20, 10), (40, 10), (100, 10)],
            lists=FAIR_EXPOSURE.compared_lists,
            iterations=20,
        ),
        bootstrap=2000,
    message:
        "Outliers by number of items and of iterations (Figure 2.2)"


# Figure 2.1: a toy policy before and after resampling.
use rule figure as heuss2025_ch2_exposure_example with:
    pathvars:
        result="embedded/heuss2025/figure_2_1",
    params:
        **runs("heuss2025/ch2_examples:exposure_example"),
        merits=[1.0, 0.9, 0.8, 0.7],
        ranks=2,
        iterations=20,
        # With other orders of the items, the first decomposition may avoid most of these rankings.
        seed=1,
    message:
        "Rankings with unknown exposure (Figure 2.1)"
