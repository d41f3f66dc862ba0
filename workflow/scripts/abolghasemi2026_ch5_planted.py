"""Stand-ins of Tables 5.1, 5.2, 5.4 and Figure 5.9: questions over pydocs, a planted preference."""

import pandas as pd
from job import Job

from everycell.rag.attribution_arms import (
    MIXED_AGAINST_VANILLA,
    MIXED_ARMS,
    PLAIN_ARMS,
    ask_all,
    biases,
    mean_quality,
    pick_questions,
    sensitivities,
)
from everycell.rag.citations import without_citations
from everycell.rag.planted import PlantedGenerator, expected_quality
from everycell.render.figures import interval_lines
from everycell.retrieval.runs import read_run

#: What the stand-in runs on, in its tables.
DATASET = "pydocs"
DECIMALS = {"measured": 1, "low": 1, "high": 1, "expected": 1, "p": 4}
COUNTS = {"questions": 0}
MODES = ["dataset", "generator", "relevant_author", "nonrelevant_author"]


def named(table, strength):
    """A table of one generator, under the names of the print."""
    return table.assign(dataset=DATASET, generator=f"planted {strength:g}")


def expected_bias(generator, k, metric):
    """Bias that a planted generator has in the long run, in points."""
    human, machine = (
        expected_quality(generator, k, relevant=relevant, nonrelevant=other)
        for relevant, other in (("Human", "LLM"), ("LLM", "Human"))
    )
    part = metric.rpartition(" ")[2]
    return 100 * (getattr(human, part) - getattr(machine, part))


with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    candidates = pd.read_parquet(files.candidates)
    wanted = (candidates["task"] == params.task) & (candidates["setting"] == params.setting)
    names = {"query_id": "query", "document_id": "document"}
    lists = candidates.loc[wanted, [*names, "relevance"]].rename(columns=names)
    keys = list(names.values())
    run = read_run(files.run).merge(lists[keys], on=keys)
    gold = lists.loc[lists["relevance"] == 1, keys]
    # The mark of a reference in a document would pass for a citation in an answer.
    texts = pd.read_parquet(files.documents).set_index("document_id")["text"]
    texts = {key: without_citations(texts[key]) for key in set(lists["document"])}

    def answers(strength, questions, arms):
        generator = PlantedGenerator(strength, params.skill, params.base, job.seed)

        def answer(question, labels):
            shown = [texts[document] for document in question.documents]
            return generator.answer(question.id, labels, [question.gold], shown)

        return ask_all(questions, arms, answer)

    questions, faults = pick_questions(run, gold, k=params.k)
    quality, mixed, changes, known = [], [], [], []
    for strength in sorted({*params.strengths, *params.shown}):
        plain = answers(strength, questions, PLAIN_ARMS)
        told = answers(strength, questions, MIXED_ARMS)
        found = biases(pd.concat([plain, told]), seed=job.seed)
        generator = PlantedGenerator(strength, params.skill, params.base, job.seed)
        expected = [expected_bias(generator, params.k, metric) for metric in found["metric"]]
        known.append(named(found, strength).assign(strength=strength, expected=expected))
        if strength in params.shown:
            quality.append(named(mean_quality(plain), strength))
            mixed.append(named(mean_quality(told), strength))
            changes.append(named(sensitivities(plain, seed=job.seed), strength))

    cells = pd.concat(quality).rename(columns={"mode_relevant": "rag_mode"})
    note = f"{len(questions)} questions"
    job.write_table(cells[[*MODES, "rag_mode", "metric", "value"]], note)
    job.write_table(
        pd.concat(mixed)[[*MODES, "mode_relevant", "mode_nonrelevant", "metric", "value"]],
        note,
        "table_5_4",
    )
    job.write_table(pd.concat(changes)[[*MODES, "metric", "value"]], note, "table_5_2")

    known = pd.concat(known, ignore_index=True).rename(columns={"value": "measured"})
    bias = known.rename(columns={"metric": "measure"}).melt(
        ["generator", "relevant_author", "nonrelevant_author", "measure"],
        list(DECIMALS),
        var_name="metric",
    )
    job.write_beside(bias, "bias", DECIMALS)
    left_out = {"asked": len(questions)} | {f"left out: {fault}": n for fault, n in faults.items()}
    counted = pd.DataFrame(
        [(what, "questions", n) for what, n in left_out.items()], columns=["row", "metric", "value"]
    )
    job.write_beside(counted, "questions", COUNTS)

    # People on relevant documents, machines on the others: one pair of authors is enough to see it.
    drawn = known.query("relevant_author == 'Human' and nonrelevant_author == 'LLM'")
    truth = drawn.assign(measured=drawn["expected"], low=drawn["expected"], high=drawn["expected"])
    lines = pd.concat([drawn.assign(series="measured"), truth.assign(series="planted")])
    job.write_figure(
        lines[["metric", "series", "strength", "measured", "low", "high"]],
        interval_lines(
            lines,
            x="strength",
            low="low",
            high="high",
            series="series",
            panel="metric",
            value="measured",
            x_label="planted preference for [Human] (log-odds)",
            value_label="CAB, points",
            reference=0,
            legend_above=True,
        ),
        "planted",
    )

    rows = []
    human = [arm for arm in MIXED_ARMS if arm[:2] == ("Human", "Human")]
    for k in params.depths:
        placed, _ = pick_questions(run, gold, k=k, place="random", seed=job.seed)
        for strength in params.shown:
            found = answers(strength, placed, human)
            measures = (
                sensitivities(found, seed=job.seed, pairs=MIXED_AGAINST_VANILLA),
                biases(found, seed=job.seed),
            )
            for row in pd.concat(measures).itertuples():
                rows.append((row.metric, strength, k, row.value, row.low, row.high))
    figure_rows = pd.DataFrame(rows, columns=["metric", "strength", "k", "value", "low", "high"])
    figure_rows["series"] = [f"planted {strength:g}" for strength in figure_rows["strength"]]
    job.write_figure(
        figure_rows,
        interval_lines(
            figure_rows,
            x="k",
            low="low",
            high="high",
            series="series",
            panel="metric",
            x_label="documents of a prompt",
            value_label="points",
            reference=0,
            legend_above=True,
        ),
        "figure_5_9",
    )
