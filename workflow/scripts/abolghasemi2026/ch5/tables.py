"""Tables 5.1 to 5.15, Figures 5.5 and 5.9 from the frame of answers, as many as a tier has."""

import json
from functools import partial
from pathlib import Path

import pandas as pd

from everycell.engine.render.panels import interval_lines
from everycell.engine.result_job import ResultJob
from everycell.rag.attribution_arms import MIXED_ARMS, PLAIN_ARMS
from everycell.rag.attribution_results import (
    FIRST_RETRIEVER,
    NO_CITATION,
    NOT_RUN,
    OPPOSITE_ARMS,
    always_first,
    answer_shares,
    check_answers,
    citation_counts,
    compared,
    confidence,
    figure_cells,
    quality,
)
from everycell.rag.attribution_tables import SETTING, told_author
from everycell.rag.planted import PlantedGenerator, expected_bias, expected_measures
from everycell.studies.abolghasemi2026.ch5.citation_figure import bars

MIXED = [*SETTING, "mode_relevant", "mode_nonrelevant"]
MODE = [*SETTING, "rag_mode"]
ENDS = {"value": 3, "low": 3, "high": 3, "p": 4, "citations": 0, "pairs": 0}
SHARES = {"questions": 0, "answers": 0} | dict.fromkeys(
    [
        "cut",
        "cut, of those that cite",
        "cite",
        "cite out of range",
        "cite the relevant document",
        "precision",
        "right",
    ],
    1,
)
KNOWN = {"measured": 3, "low": 3, "high": 3, "expected": 3, "p": 4}
lines_around_0 = partial(interval_lines, low="low", high="high", reference=0, legend_above=True)
#: The data set of the appendix' tables; all others stand in the chapter's.
APPENDIX = "MS MARCO"


def with_mode(table):
    """Results of documents of two origins under the name that the print gives their one mode."""
    return table.rename(columns={"mode_relevant": "rag_mode"}).drop(columns="mode_nonrelevant")


def halves(table):
    """Results of the chapter's data set, and of the appendix'."""
    return table[table["dataset"] != APPENDIX], table[table["dataset"] == APPENDIX]


def results(answers, reference, seed):
    """Every table of the chapter by its name: its key columns and its results.

    Those of quality have the answers of a reference too.
    """
    both = pd.concat([answers, reference])
    plain, mixed, (opposite, _) = (
        halves(quality(both, arms, seed=seed)) for arms in (PLAIN_ARMS, MIXED_ARMS, OPPOSITE_ARMS)
    )
    plain = [with_mode(half) for half in plain]
    sure = halves(with_mode(confidence(answers, seed=seed)))
    counts = halves(with_mode(citation_counts(answers, seed=seed)))

    def by_authors(measure, *studies):
        return pd.concat(compared(answers, measure, study=each, seed=seed) for each in studies)

    others = pd.concat(by_authors(measure, "retrievers") for measure in ("CAS", "CAB"))
    depths = pd.concat(by_authors(measure, "depths") for measure in ("CAS", "CAB"))
    return {
        "table_5_1": (MODE, plain[0]),
        "table_5_2": (SETTING, by_authors("CAS", "plain")),
        "table_5_3": (SETTING, by_authors("CAB", "plain")),
        "table_5_4": (MIXED, opposite),
        "table_5_5": (SETTING, by_authors("CAB", "mixed")),
        "table_5_6": (MODE, sure[0]),
        "table_5_7": (SETTING, by_authors("CAS", "extended")),
        "table_5_8": (SETTING, by_authors("CAB", "extended")),
        # The print marks nothing here, and in Tables 5.14 and 5.15.
        "table_5_9": (["dataset", "generator", "retriever"], others.drop(columns="marker")),
        "table_5_10": (MODE, sure[1]),
        "table_5_11": (MODE, plain[1]),
        "table_5_12": (MODE, counts[0]),
        "table_5_13": (MODE, counts[1]),
        "table_5_14": (MIXED, mixed[0].drop(columns="marker")),
        "table_5_15": (MIXED, mixed[1].drop(columns="marker")),
        "figure_5_9": (["dataset", "generator", "k"], depths),
    }


def long(found):
    """All results with their intervals and tests, one row a number; Table 5.4 is in Table 5.14."""
    tables = []
    for name, (_, table) in found.items():
        if name != "table_5_4":
            kind, number = name.split("_", 1)
            title = f"{kind.capitalize()} {number.replace('_', '.')}"
            tables.append(table.rename(columns={"metric": "measure"}).assign(table=title))
    whole = pd.concat(tables, ignore_index=True)
    keys = ["dataset", "generator", "retriever", "k", *MIXED[2:4], "rag_mode", *MIXED[4:]]
    keys = ["table", *keys, "measure"]
    whole[keys] = whole[keys].astype(object).fillna("").astype(str)
    cells = whole.melt(keys, list(ENDS), var_name="metric", value_name="number")
    return cells.rename(columns={"number": "value"}).dropna(subset="value")


def measured(found, names, generators):
    """Results of planted generators in some tables, as numbers."""
    rows = pd.concat(found[name][1] for name in names)
    rows = rows[rows["generator"].isin(generators) & (rows["value"] != NO_CITATION)]
    return rows.assign(measured=rows["value"].astype(float))


def known(found, generators, depth):
    """Bias of planted generators, measured and as it was planted."""
    rows = measured(found, ["table_5_3", "table_5_5"], generators)
    expected = {name: expected_bias(each, depth[name]) for name, each in generators.items()}
    pairs = zip(rows["generator"], rows["metric"], strict=True)
    return rows.assign(expected=[expected[name][part] for name, part in pairs])


def truth(found, generators, depth):
    """Precision, recall, counts and confidence of planted generators, the same way."""
    rows = measured(found, ["table_5_1", "table_5_6", "table_5_12"], generators)
    values = []
    for row in rows.itertuples():
        labels = (
            told_author(author, row.rag_mode)
            for author in (row.relevant_author, row.nonrelevant_author)
        )
        sides = dict(zip(("relevant", "nonrelevant"), labels, strict=True))
        expected = expected_measures(generators[row.generator], depth[row.generator], **sides)
        values.append(expected.get(row.metric))
    # The count of relevant documents is the recall.
    return rows.assign(expected=values).dropna(subset="expected").drop(columns="p")


def melted(table, keys):
    """A table of measured and expected values, one row a number."""
    named = table.drop(columns="value").rename(columns={"metric": "measure"})
    columns = [name for name in KNOWN if name in named]
    return named.melt([*keys, "measure"], columns, var_name="metric").dropna(subset="value")


def bias_figure(bias):
    """Measured bias over the planted preference, where people wrote the relevant documents."""
    # One pair of authors is enough to see it.
    drawn = bias[(bias["relevant_author"] == "Human") & (bias["nonrelevant_author"] == "LLM")]
    planted = drawn.assign(**dict.fromkeys(["measured", "low", "high"], drawn["expected"]))
    lines = pd.concat([drawn.assign(series="measured"), planted.assign(series="planted")])
    figure = lines_around_0(
        lines,
        x="strength",
        series="series",
        panel="metric",
        value="measured",
        x_label="planted preference for [Human] (log-odds)",
        value_label="CAB, points",
    )
    return lines[["metric", "series", "strength", "measured", "low", "high"]], figure


def depth_figure(rows):
    """Figure 5.9: sensitivity and bias over the number of documents, an interval at each point."""
    by_data = [part for _, part in rows.groupby("dataset", sort=False)]
    cells = pd.concat(by_data)[["dataset", "generator", "k", "metric", "value", "low", "high"]]
    # A line has no place for answers that cite nothing; the file has them.
    points = cells[cells["value"] != NO_CITATION].astype({"value": float, "k": int})
    start = points["dataset"] + ": " if points["dataset"].nunique() > 1 else ""
    figure = lines_around_0(
        points.assign(panel=start + points["metric"]),
        x="k",
        series="generator",
        panel="panel",
        x_label="documents of a prompt",
        value_label="points",
    )
    return cells, figure


def size_note(answers, table):
    """How many questions the rows of a table rest on, and of what size."""
    if "retriever" not in table:
        answers = answers[answers["retriever"] == FIRST_RETRIEVER]
    names = ["dataset", "generator", "retriever", "relevant_author", "nonrelevant_author"]
    keys = [name for name in names if name in table]
    there = answers.merge(table[keys].drop_duplicates(), on=keys)
    notes = []
    for _, rows in there.groupby("generator", sort=False):
        # Fewer where passages had to be said again by a language model.
        sizes = rows.groupby(keys)["query_id"].nunique()
        span = " to ".join(map(str, dict.fromkeys((sizes.min(), sizes.max()))))
        notes.append(f"{span} questions a row, {rows['k'].max()} documents")
    silent = table.loc[table["value"] == NOT_RUN, "generator"].unique()
    lacking = [f"no probabilities of {', '.join(silent)}"] if len(silent) else []
    return "; ".join([*dict.fromkeys(notes), *lacking])


with ResultJob(snakemake) as job:
    params = snakemake.params
    answers = check_answers(pd.concat(map(pd.read_parquet, snakemake.input.answers)))
    job.facts["language_models"] = [
        json.loads(Path(file).read_text()) for file in snakemake.input.provenance
    ]
    strengths = {f"planted {each:g}": each for each in {*params.shown, *params.strengths}}
    planted = answers["generator"].isin(strengths)
    retrieved = answers["place"] == "retrieved"
    # What citing by position comes to; of the control it is known what everything comes to.
    reference = always_first(answers[~planted])
    found = results(answers, reference, job.seed)
    written = {name.removesuffix("_csv") for name in snakemake.output.keys()}

    def of_this_tier(name, table):
        """Rows of the tier's own table: the control stands beside that of language models."""
        if params.printed is None:
            names = answers.loc[~planted | planted.all(), "generator"].unique()
            return table[table["generator"].isin(names)]
        # Where cells get verdicts, a table has no other ones than the printed cells.
        names = params.printed.get(name, params.printed["all"])
        return table[table["generator"].isin(names) & (table["value"] != NOT_RUN)]

    for name, (keys, table) in found.items():
        shown = of_this_tier(name, table)
        columns = [*keys, "metric", "value", *(["marker"] if "marker" in shown else [])]
        if name == "table_5_1" or (name in written and name.startswith("table")):
            note = size_note(answers[retrieved], shown)
            job.write_table(shown[columns], note, name.removeprefix("table_5_1") and name)

    # Figures of a stand-in have the control as a series.
    counts = pd.concat([found["table_5_12"][1], found["table_5_13"][1]])
    depths = found["figure_5_9"][1]
    if params.printed is not None:
        counts, depths = of_this_tier("figure_5_5", counts), of_this_tier("figure_5_9", depths)
    cells = figure_cells(counts)
    job.write_figure(cells, bars(cells), "figure_5_5" if "figure_5_5" in written else "cited")
    job.write_figure(*depth_figure(depths), "figure_5_9")

    job.write_beside(long(found), "intervals", ENDS)
    shares = answer_shares(pd.concat([answers, reference]))
    job.write_beside(shares.astype({"k": str}), "answers", SHARES)
    if "bias" in written:
        generators = {
            name: PlantedGenerator(strengths[name], seed=job.seed, **params.odds)
            for name in strengths
        }
        if "planted" in written:
            more = check_answers(pd.read_parquet(snakemake.input.strengths))
            answers = pd.concat([answers, more], ignore_index=True)
        fixed = answers[answers["place"] == "retrieved"]
        depth = fixed.groupby("generator")["k"].first()
        names = sorted(set(generators) & set(depth.index), key=strengths.get)
        there = {name: generators[name] for name in names}
        job.write_beside(
            melted(truth(found, there, depth), ["generator", *MODE[2:]]), "truth", KNOWN
        )
        plain = compared(answers, "CAB", study="plain", seed=job.seed)
        bias = known(found | {"table_5_3": (SETTING, plain)}, there, depth)
        job.write_beside(melted(bias, ["generator", *SETTING[2:]]), "bias", KNOWN)
        if "planted" in written:
            bias["strength"] = bias["generator"].map(strengths)
            job.write_figure(*bias_figure(bias), "planted")
            asked = pd.read_parquet(snakemake.input.questions)
            job.write_beside(asked, "questions", {"questions": 0})
