"""Chapter 5 of abolghasemi2026: attribution bias in retrieval-augmented generation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from everycell.base.untrusted import read_json
from everycell.jobs.result_job import ResultJob
from papers.abolghasemi2026.ch5_answers import (
    READ,
    align_readings,
    answer_shares,
    check_answers,
    cite_always_first,
)
from papers.abolghasemi2026.ch5_arms import (
    CONDITION_COLUMNS,
    FIRST_RETRIEVER,
    MIXED_ARMS,
    OPPOSITE_ARMS,
    PLAIN_ARMS,
    TOTAL,
    displayed_author,
)
from papers.abolghasemi2026.ch5_comparisons import NO_CITATION, NOT_RUN, compare_labels
from papers.abolghasemi2026.ch5_controls import PlantedControl, make_controls
from papers.abolghasemi2026.ch5_figures import bias_lines, citation_bars, depth_lines
from papers.abolghasemi2026.ch5_published import (
    TESTS,
    bias_cells,
    bias_significance,
    counts_from_recalls,
    mark_bias,
    queries_behind,
    recalls_from_counts,
    sensitivity_significance,
    tests_table,
)
from papers.abolghasemi2026.ch5_results import citation_counts, confidence, figure_cells, quality

MODE = [*CONDITION_COLUMNS, "rag_mode"]
MIXED = [*CONDITION_COLUMNS, "mode_relevant", "mode_nonrelevant"]
#: The data set whose tables are in the appendix; the others are in the chapter.
APPENDIX = "MS MARCO"
#: Columns of the table of intervals -> digits shown.
ENDS = {"value": 3, "low": 3, "high": 3, "p": 4, "citations": 0, "pairs": 0}
#: Columns of the table of answers -> digits shown.
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
#: Columns of a table of measured and expected values -> digits shown.
KNOWN = {"measured": 3, "low": 3, "high": 3, "expected": 3, "p": 4}
CLAIM = "authorship information changes attribution quality by ({})"


def derived(job: ResultJob) -> None:
    """Results of chapter 5 that follow from other published tables."""
    (
        nq_quality,
        sensitivity,
        few_mixed,
        marco_precision,
        nq_totals,
        marco_counts,
        nq_mixed,
        marco_mixed,
    ) = map(job.input_cells, job.params.declared)
    marco_recall = recalls_from_counts(marco_counts)
    quality = pd.concat([nq_quality, marco_precision, marco_recall], ignore_index=True)
    mixed = pd.concat([nq_mixed, few_mixed, marco_mixed], ignore_index=True)
    n = queries_behind([*nq_totals["value"], *marco_counts["value"]])
    assert n is not None, "no number of queries fits the published means"

    tests = {
        "Table 5.2": sensitivity_significance(quality, sensitivity, n),
        "Table 5.3": bias_significance(quality, n),
        "Table 5.5": bias_significance(mixed, n),
    }
    bias, mixed_bias = bias_cells(quality), bias_cells(mixed)
    job.write_table(mark_bias(bias, tests["Table 5.3"]))
    job.write_table(mark_bias(mixed_bias, tests["Table 5.5"]), artefact="table_5_5")
    job.write_supplement(pd.concat([tests_table(*item) for item in tests.items()]), "tests", TESTS)

    modes = [*CONDITION_COLUMNS, "rag_mode", "metric", "value"]
    job.write_table(marco_recall[modes], artefact="table_5_11")
    job.write_table(counts_from_recalls(nq_quality)[modes], artefact="table_5_12")
    totals = pd.concat([nq_totals, marco_counts[marco_counts["metric"] == TOTAL]])
    cells = figure_cells(totals)
    job.write_figure(cells, citation_bars(cells), "figure_5_5")

    sizes = pd.concat([bias, mixed_bias])["value"].abs()
    claims = {
        CLAIM.format("low"): round(sizes.min()),
        CLAIM.format("high"): round(sizes.max()),
        "queries sampled per benchmark": n,
    }
    job.write_table(pd.DataFrame(claims.items(), columns=["claim", "value"]), artefact="text_5")


def tables(job: ResultJob) -> None:
    """Tables 5.1 to 5.15 and Figures 5.5 and 5.9 of a tier, from the frame of answers."""
    params = job.params
    answers = check_answers(pd.concat(map(pd.read_parquet, job.input.answers)))
    job.facts["language_models"] = [read_json(file) for file in job.input.provenance]
    preferences = sorted({*params.shown, *params.strengths})
    controls = make_controls(preferences, params.odds, params.seed)
    is_control = answers["generator"].isin(controls)
    # Baselines that cite by position; controls need none, since their expected values are known.
    reference = cite_always_first(answers[~is_control])
    tables = chapter_tables(answers, reference, params.seed)
    outputs = {name.removesuffix("_csv") for name in job.output.keys()}
    generators = select_generators(answers, is_control, params.published_generators)
    verdicts = params.published_generators is not None

    retrieved = answers[answers["place"] == "retrieved"]
    for name, table in tables.items():
        if name == "table_5_1" or (name in outputs and name.startswith("table")):
            cells = table.of_generators(generators.get(name, generators["all"]), all_run=verdicts)
            note = size_note(retrieved, cells)
            job.write_table(cells, note, name.removeprefix("table_5_1") and name)

    # On surrogate data the figures include the control.
    counts = pd.concat([tables["table_5_12"].rows, tables["table_5_13"].rows])
    depths = tables["figure_5_9"].rows
    if verdicts:
        counts, depths = (
            rows[rows["generator"].isin(generators["all"])] for rows in (counts, depths)
        )
    cells = figure_cells(counts)
    figure = "figure_5_5" if "figure_5_5" in outputs else "cited"
    job.write_figure(cells, citation_bars(cells), figure)
    job.write_figure(*depth_lines(depths), "figure_5_9")

    job.write_supplement(interval_table(tables), "intervals", ENDS)
    shares = answer_shares(pd.concat([answers, reference]))
    job.write_supplement(shares.astype({"k": str}), "answers", SHARES)
    if "readings" in outputs:
        readings = pd.concat(map(pd.read_parquet, job.input.readings))
        job.write_supplement(compare_readings(readings, params.seed), "readings", READ)
    if "bias" in outputs:
        if "planted" in outputs:
            further_answers = check_answers(pd.read_parquet(job.input.strengths))
            answers = pd.concat([answers, further_answers], ignore_index=True)
        in_retrieval_order = answers[answers["place"] == "retrieved"]
        depth = in_retrieval_order.groupby("generator")["k"].first()
        present_controls = {name: controls[name] for name in controls if name in depth.index}
        quality = measured_quality(tables, present_controls, depth)
        job.write_supplement(melt_measures(quality, QUALITY_KEYS), "truth", KNOWN)
        plain_bias = ChapterTable(
            CONDITION_COLUMNS, compare_labels(answers, "CAB", study="plain", seed=params.seed)
        )
        bias = measured_bias(tables | {"table_5_3": plain_bias}, present_controls, depth)
        job.write_supplement(melt_measures(bias, BIAS_KEYS), "bias", KNOWN)
        if "planted" in outputs:
            job.write_figure(*bias_lines(bias), "planted")


class ChapterTable(NamedTuple):
    """A table of chapter 5, with the rows of all generators."""

    #: Key columns of a value.
    keys: list[str]
    #: A result (`ch5_comparisons`).
    rows: pd.DataFrame

    def of_generators(self, generators: Collection[str], *, all_run: bool = False) -> pd.DataFrame:
        """Rows of some generators, in the published columns."""
        rows = self.rows[self.rows["generator"].isin(generators)]
        if all_run:
            rows = rows[rows["value"] != NOT_RUN]
        marker = ["marker"] if "marker" in rows else []
        return rows[[*self.keys, "metric", "value", *marker]]


def chapter_tables(
    answers: pd.DataFrame, reference: pd.DataFrame, seed: int
) -> dict[str, ChapterTable]:
    """All tables of chapter 5 that depend on answers, by name."""
    with_reference = pd.concat([answers, reference])
    plain_quality, mixed_quality, (opposite_quality, _) = (
        _halves(quality(with_reference, arms, seed=seed))
        for arms in (PLAIN_ARMS, MIXED_ARMS, OPPOSITE_ARMS)
    )
    plain_quality = tuple(_with_mode(half) for half in plain_quality)
    confidences = _halves(_with_mode(confidence(answers, seed=seed)))
    counts = _halves(_with_mode(citation_counts(answers, seed=seed)))

    def by_authors(measure, study):
        return compare_labels(answers, measure, study=study, seed=seed)

    by_retriever = pd.concat(by_authors(measure, "retrievers") for measure in ("CAS", "CAB"))
    depths = pd.concat(by_authors(measure, "depths") for measure in ("CAS", "CAB"))
    tables = {
        "table_5_1": (MODE, plain_quality[0]),
        "table_5_2": (CONDITION_COLUMNS, by_authors("CAS", "plain")),
        "table_5_3": (CONDITION_COLUMNS, by_authors("CAB", "plain")),
        "table_5_4": (MIXED, opposite_quality),
        "table_5_5": (CONDITION_COLUMNS, by_authors("CAB", "mixed")),
        "table_5_6": (MODE, confidences[0]),
        "table_5_7": (CONDITION_COLUMNS, by_authors("CAS", "extended")),
        "table_5_8": (CONDITION_COLUMNS, by_authors("CAB", "extended")),
        "table_5_9": (["dataset", "generator", "retriever"], by_retriever),
        "table_5_10": (MODE, confidences[1]),
        "table_5_11": (MODE, plain_quality[1]),
        "table_5_12": (MODE, counts[0]),
        "table_5_13": (MODE, counts[1]),
        # These tables have no significance markers in the thesis.
        "table_5_14": (MIXED, mixed_quality[0].drop(columns="marker")),
        "table_5_15": (MIXED, mixed_quality[1].drop(columns="marker")),
        "figure_5_9": (["dataset", "generator", "k"], depths),
    }
    return {name: ChapterTable(*table) for name, table in tables.items()}


def interval_table(tables: Mapping[str, ChapterTable]) -> pd.DataFrame:
    """All results with their intervals and tests, one row per number.

    Table 5.4 is omitted, because Table 5.14 contains it.
    """
    titled = []
    for name, (_, rows) in tables.items():
        if name != "table_5_4":
            kind, number = name.split("_", 1)
            title = f"{kind.capitalize()} {number.replace('_', '.')}"
            titled.append(rows.rename(columns={"metric": "measure"}).assign(table=title))
    combined = pd.concat(titled, ignore_index=True)
    keys = ["dataset", "generator", "retriever", "k", *MIXED[2:4], "rag_mode", *MIXED[4:]]
    keys = ["table", *keys, "measure"]
    combined[keys] = combined[keys].astype(object).fillna("").astype(str)
    cells = combined.melt(keys, list(ENDS), var_name="metric", value_name="number")
    return cells.rename(columns={"number": "value"}).dropna(subset="value")


#: Tables that are compared between readings.
_COMPARED = {f"Table 5.{number}" for number in (1, 2, 3, 5, 7, 8, 9, 11, 12, 13, 14, 15)}


def compare_readings(readings: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Values of the tables under each reading of the same answers."""
    by_reading = {}
    for name, answers in readings.groupby("reading", sort=False):
        cells = interval_table(chapter_tables(answers, answers.iloc[:0], seed))
        cells = cells[(cells["metric"] == "value") & cells["table"].isin(_COMPARED)]
        cells = cells.drop(columns="metric")
        by_reading[name] = cells.rename(columns={"measure": "metric"})
    return align_readings(by_reading)


def size_note(answers: pd.DataFrame, table: pd.DataFrame) -> str:
    """Note on the number of questions per row and of documents per question."""
    if "retriever" not in table:
        answers = answers[answers["retriever"] == FIRST_RETRIEVER]
    names = ["dataset", "generator", "retriever", "relevant_author", "nonrelevant_author"]
    keys = [name for name in names if name in table]
    own_answers = answers.merge(table[keys].drop_duplicates(), on=keys)
    notes = []
    for _, rows in own_answers.groupby("generator", sort=False):
        # Rows with paraphrased passages may have fewer questions.
        sizes = rows.groupby(keys)["query"].nunique()
        span = " to ".join(map(str, dict.fromkeys((sizes.min(), sizes.max()))))
        notes.append(f"{span} questions per row, {rows['k'].max()} documents per question")
    not_run = table.loc[table["value"] == NOT_RUN, "generator"].unique()
    missing = [f"no probabilities from {', '.join(not_run)}"] if len(not_run) else []
    return "; ".join([*dict.fromkeys(notes), *missing])


def select_generators(
    answers: pd.DataFrame, is_control: pd.Series, published: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Generators in a tier's tables, by table name; "all" is for all other tables."""
    if published is not None:
        return {name: list(names) for name, names in published.items()}
    visible = ~is_control | is_control.all()
    return {"all": answers.loc[visible, "generator"].unique().tolist()}


def _with_mode(table: pd.DataFrame) -> pd.DataFrame:
    """Results with a single mode, in the published column `rag_mode`."""
    return table.rename(columns={"mode_relevant": "rag_mode"}).drop(columns="mode_nonrelevant")


def _halves(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Results for chapter 5 and for its appendix."""
    return table[table["dataset"] != APPENDIX], table[table["dataset"] == APPENDIX]


def measured_bias(
    tables: Mapping[str, ChapterTable],
    controls: Mapping[str, PlantedControl],
    depth: Mapping[str, int],
) -> pd.DataFrame:
    """Bias of controls (Tables 5.3 and 5.5), measured and expected."""
    rows = _measured(tables, ["table_5_3", "table_5_5"], controls)
    expected = {name: control.expected_bias(depth[name]) for name, control in controls.items()}
    pairs = zip(rows["generator"], rows["metric"], strict=True)
    preferences = {name: control.preference for name, control in controls.items()}
    return rows.assign(
        expected=[expected[name][part] for name, part in pairs],
        preference=rows["generator"].map(preferences),
    )


def measured_quality(
    tables: Mapping[str, ChapterTable],
    controls: Mapping[str, PlantedControl],
    depth: Mapping[str, int],
) -> pd.DataFrame:
    """Precision, recall, counts and confidence of controls (Tables 5.1, 5.6, 5.12)."""
    rows = _measured(tables, ["table_5_1", "table_5_6", "table_5_12"], controls)
    values = []
    for row in rows.itertuples():
        labels = (
            displayed_author(author, row.rag_mode)
            for author in (row.relevant_author, row.nonrelevant_author)
        )
        sides = dict(zip(("relevant", "nonrelevant"), labels, strict=True))
        expected = controls[row.generator].expected_measures(depth[row.generator], **sides)
        values.append(expected.get(row.metric))
    # The count of relevant documents is the recall.
    return rows.assign(expected=values).dropna(subset="expected").drop(columns="p")


def melt_measures(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Long format of a table of measured and expected values."""
    cells = table.drop(columns="value").rename(columns={"metric": "measure"})
    columns = [name for name in KNOWN if name in cells]
    return cells.melt([*keys, "measure"], columns, var_name="metric").dropna(subset="value")


#: Key columns of the two tables.
QUALITY_KEYS = ["generator", *MODE[2:]]
BIAS_KEYS = ["generator", *CONDITION_COLUMNS[2:]]


def _measured(
    tables: Mapping[str, ChapterTable], names: Sequence[str], controls: Mapping[str, PlantedControl]
) -> pd.DataFrame:
    """Results of the controls in some tables, as numbers."""
    rows = pd.concat(tables[name].rows for name in names)
    rows = rows[rows["generator"].isin(controls) & (rows["value"] != NO_CITATION)]
    return rows.assign(measured=rows["value"].astype(float))
