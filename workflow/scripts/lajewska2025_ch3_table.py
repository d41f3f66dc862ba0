"""Tables 3.2, 3.3 and 3.4: measures of the released runs, and tests of the compared rows."""

import pandas as pd
from job import Job

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.runs import read_qrels, read_run
from everycell.retrieval.significance import paired_beside_unpaired

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


with Job(snakemake) as job:
    number, settings = snakemake.wildcards.number, snakemake.params
    qrels = read_qrels(snakemake.input.qrels, scale=settings.scale)
    topics = qrels["query"].unique()
    values = {
        # With -c a topic that a run leaves out counts 0; these runs leave none out.
        system: evaluate(
            read_run(run, queries=topics),
            qrels,
            list(settings.measures.values()),
            relevance_level=settings.relevance_level,
            missing_topics="error",
        )
        for system, run in zip(settings.systems, snakemake.input.runs, strict=True)
    }
    names = {metric: metric for metric in settings.measures}
    if number == "4":
        names = {"R@500": "Recall", "NDCG@3": "NDCG@3"}
    job.write_table(
        pd.DataFrame(
            [
                keys_of(number, system, settings.year)
                | {"metric": shown, "value": found[settings.measures[metric]].mean()}
                for system, found in values.items()
                for metric, shown in names.items()
            ]
        )
    )
    places = [
        (name, settings.systems[a], settings.systems[b])
        for name, pairs in settings.comparisons.items()
        for a, b in pairs
    ]
    parts = []
    for metric in settings.compared:
        one = pd.DataFrame(
            {system: found[settings.measures[metric]] for system, found in values.items()}
        )
        tests = paired_beside_unpaired(
            one, [(a, b) for _, a, b in places], comparisons=len(places) * len(settings.compared)
        )
        tests.insert(0, "comparison", [name for name, *_ in places])
        parts.append(tests.assign(measure=metric))
    keys = ["comparison", "measure", "a", "b"]
    beside = pd.concat(parts).melt(keys, list(TESTS), var_name="metric")
    job.write_beside(beside, "tests", TESTS)
