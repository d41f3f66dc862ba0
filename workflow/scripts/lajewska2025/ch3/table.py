"""Tables 3.2, 3.3 and 3.4: measures of the released runs, and tests of the compared rows."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import paired_beside_unpaired
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run

TESTS = {
    "change_percent": 2,
    "p_paired": 4,
    "p_unpaired": 4,
    "p_paired_corrected": 4,
    "p_unpaired_corrected": 4,
}


def keys_of(number: str, system: str, year: str) -> dict[str, str]:
    """Key columns of a row but the metric."""
    if number == "2":
        return {"row": system, "source": "this thesis"}
    if number == "3":
        return {"row": system, "cast_year": year}
    first, second = system.split(", ")
    return {"r1_rewriter": first, "r2_rewriter": second, "cast_year": year}


with ResultJob(snakemake) as job:
    number, settings = snakemake.wildcards.number, snakemake.params
    systems = settings.systems
    places = [
        (name, systems[a], systems[b])
        for name, pairs in settings.comparisons.items()
        for a, b in pairs
    ]
    rows, parts = [], []
    # The runs of one year stand behind those of the other.
    for place, (year, measures) in enumerate(settings.measures.items()):
        qrels = read_qrels(snakemake.input.qrels[place], scale=settings.scale)
        topics = qrels["query"].unique()
        runs = snakemake.input.runs[place * len(systems) : (place + 1) * len(systems)]
        values = {
            # With -c a topic that a run leaves out counts 0; these runs leave none out.
            system: evaluate(
                read_run(run, queries=topics),
                qrels,
                list(measures.values()),
                relevance_level=settings.relevance_level,
                missing_topics="error",
            )
            for system, run in zip(systems, runs, strict=True)
        }
        # What the text compares. Table 3.4 has no other measures.
        recall = next(iter(measures))
        names = {metric: metric for metric in measures}
        if number == "4":
            names = {recall: "Recall", "NDCG@3": "NDCG@3"}
        rows += [
            keys_of(number, system, year)
            | {"metric": shown, "value": found[measures[metric]].mean()}
            for system, found in values.items()
            for metric, shown in names.items()
        ]
        compared = [recall, "NDCG@3"]
        for metric in compared:
            one = pd.DataFrame(
                {system: found[measures[metric]] for system, found in values.items()}
            )
            tests = paired_beside_unpaired(
                one, [(a, b) for _, a, b in places], comparisons=len(places) * len(compared)
            )
            tests.insert(0, "comparison", [name for name, *_ in places])
            parts.append(tests.assign(cast_year=year, measure=metric))
    job.write_table(pd.DataFrame(rows))
    keys = ["comparison", "cast_year", "measure", "a", "b"]
    beside = pd.concat(parts).melt(keys, list(TESTS), var_name="metric")
    job.write_beside(beside, "tests", TESTS)
