"""Messages of a dry run of the full tier about missing or wrong settings.

That each record names the settings that its full tier asks for is in test_plan.py.
"""

import pytest

LAJEWSKA = "results/full/lajewska2025"
ABOLGHASEMI = "results/full/abolghasemi2026"
HEUSS = "results/full/heuss2025"
TABLE_6_8 = f"{LAJEWSKA}/table_6_8.csv"
FIGURE_3_2 = f"{HEUSS}/figure_3_2.csv"
MSMARCO = "term_fairness: {msmarco: {folder: fetch}}\n"
ANSWERABILITY = f"{LAJEWSKA}/table_5_6.csv"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        (ANSWERABILITY, "answerability: {full: {model: a/b, squad: src, squad_dev: src}}",
         "`answerability.full.squad` is 'src', which is not a file"),
        (ANSWERABILITY, "answerability: {full: {model: published, squad: config.yaml}}",
         "`answerability.full.model` is 'published', which has no config.json"),
        (f"{LAJEWSKA}/table_B_1.csv", "answerability: {full: {squad: config.yaml}}",
         "`answerability.full.squad_dev` is null; this tier needs dev-v2.0.json of SQuAD 2.0"),
        (f"{LAJEWSKA}/table_3_3.csv", "cast_systems: {runs_2020: runs}",
         "'runs', which is not a folder"),
        (f"{LAJEWSKA}/table_3_3.csv", "cast_systems: {runs_2020: src}",
         "'src', which has no t5-canard_bm25_mono-t5_2020.trec(.gz)"),
        ("work/castturns/models/t5-qrecc", "network: false",
         "`cast_systems.qrecc` is null"),
        ("work/castfull/2021/passages.parquet", "network: false",
         "`cast_systems.collection_2021` is null"),
        (TABLE_6_8, "ginger: {full: {judges: {smollm2: GPT4o}}}",
         "has no model for Claude and Gemini. Table 6.8 is the mean of three"),
        (f"{ABOLGHASEMI}/table_5_1.csv", "attribution: {full: {models: {smollm2: Mistral}}}",
         "or the other data set under `attribution.full`"),
        (f"{ABOLGHASEMI}/table_5_1.csv",
         "attribution: {full: {models: {smollm2: Mistral}, nq: no/such/folder}}",
         "'no/such/folder', which is not a folder"),
        (f"{ABOLGHASEMI}/table_3_6.csv", "user_satisfaction: {full: {model: published}}",
         "`user_satisfaction.full.model` is 'published', which has no config.json"),
        (f"{ABOLGHASEMI}/table_2_2.csv", "query_by_example: {scidocs: {folder: published}}",
         "`query_by_example.scidocs.folder` is 'published', which has no "),
        (f"{HEUSS}/figure_5_6.png",
         "citation_faithfulness: {full: {models: {smollm2: spans}, data: src}}",
         "`citation_faithfulness.full.data` is 'src', which has no questions.jsonl"),
        ("work/msmarco/runs/bert.qs1.run",
         "term_fairness: {msmarco: {folder: fetch, rerankers: {bert: published}}}",
         "`term_fairness.msmarco.rerankers.bert` is 'published', which has no config.json"),
        (FIGURE_3_2, MSMARCO + "uncertain_ranking: {msmarco: {scores: a.csv}}",
         "`uncertain_ranking.msmarco.scores` is 'a.csv', which is not a file"),
        (FIGURE_3_2,
         MSMARCO + "uncertain_ranking: {msmarco: {scores: config.yaml, runs: {ADV: {'1': a.run}}}}",
         "has 'a.run' for 1, which is not a"),
    ],
)  # fmt: skip
def test_full_settings_missing_or_wrong(tree, tmp_path, target, settings, message):
    mine = tmp_path / "mine.yaml"
    mine.write_text(settings)
    done = tree.snakemake("-n", target, "--configfile", mine)
    assert done.returncode == 2 and done.stdout.count(message) == 1, done.stdout
    assert "everycell: config.yaml" in done.stdout and "Exception" not in done.stdout
    assert "Traceback" not in done.stdout and ".smk" not in done.stdout
