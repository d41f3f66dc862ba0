"""Executable checks of printed numbers against each other.

An audit is a small pure function from the printed cells of a paper to a `Finding`. It needs no
data and no rebuilt table, so it can be read, run and disputed on its own. Two kinds:

- `INCONSISTENCIES` (``audit_PAPER_TOPIC``): the finding holds where printed numbers, or a printed
  number and a sentence, cannot both stand. An erratum on a card names its audit.
- `CONSISTENCIES` (``check_PAPER_TOPIC``): the finding holds where a whole table agrees with
  another, or with itself. They guard our copy of the cells.

Numbers that stand in running text only are constants in the function, with the line cited.

Examples
--------
>>> import pandas as pd
>>> counts = pd.DataFrame(
...     [("Satisfaction", 811), ("Dissatisfaction", 40)], columns=["row", "value"])
>>> counts["dataset"], counts["collection"] = "MultiWOZ", "Main"
>>> audit_abolghasemi2026_main_ratio({"table_3_5": counts}.__getitem__)
Finding(holds=False, detail='MultiWOZ 95.3:4.7; the text says 95:5')
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.dialogue.satisfaction import Confusion, fitting_confusions, scores
from everycell.engine.printed_cells import read_cells
from everycell.metrics.rank_overlap import rbo
from everycell.studies.abolghasemi2026.ch5.printed_tests import (
    sensitivity_significance,
    significance,
)

#: From the name of a table (``table_4_2``, or ``KEY/table_4_2`` for another paper's) to its cells.
Cells = Callable[[str], pd.DataFrame]


class Finding(NamedTuple):
    """What an audit found: whether it holds, and the numbers in a line."""

    holds: bool
    detail: str


Audit = Callable[..., Finding]
INCONSISTENCIES: dict[str, Audit] = {}
CONSISTENCIES: dict[str, Audit] = {}


def _register(audit: Audit) -> Audit:
    known = INCONSISTENCIES if audit.__name__.startswith("audit_") else CONSISTENCIES
    known[audit.__name__] = audit
    return audit


def paper_of(name: str) -> str:
    """Paper that an audit is about.

    Examples
    --------
    >>> paper_of("audit_abolghasemi2026_daggers")
    'abolghasemi2026'
    """
    return name.split("_")[1]


def printed_cells(folder: Path, paper: str) -> Cells:
    """Access to the printed cells of a paper in the folder ``published``.

    Parameters
    ----------
    folder
        The folder that holds one folder a paper.
    paper
        Key of the paper; names with a slash (``other/table_1``) reach another paper.
    """

    def cells(name: str) -> pd.DataFrame:
        key, _, table = name.rpartition("/")
        return read_cells(folder / (key or paper) / f"{table}.csv")

    return cells


def run_audit(name: str, folder: Path) -> Finding:
    """Run one of `AUDITS` by its name on the printed cells in the folder ``published``."""
    return AUDITS[name](printed_cells(folder, paper_of(name)))


def _pick(table: pd.DataFrame, **key: str | list[str]) -> pd.DataFrame:
    """Rows of a table whose key columns have these values."""
    for column, wanted in key.items():
        table = table[table[column].isin([wanted] if isinstance(wanted, str) else wanted)]
    return table


def _text(table: pd.DataFrame, **key: str) -> str:
    """The one printed value of a key."""
    return str(_pick(table, **key)["value"].item())


def _number(table: pd.DataFrame, **key: str) -> float:
    """The one printed value of a key as a number."""
    return float(_text(table, **key))


def _listed(findings: Iterable[str], none: str) -> Finding:
    """Finding that holds where the list is not empty."""
    found = list(findings)
    return Finding(bool(found), "; ".join(found) if found else none)


def _agrees(faults: Iterable[str], detail: str) -> Finding:
    """Finding that holds where the list of faults is empty."""
    found = list(faults)
    return Finding(not found, "; ".join(found) if found else detail)


def _multiple(value: float, step: float) -> bool:
    """Whether a printed value is a whole number of steps."""
    return abs(value / step - round(value / step)) < 1e-6


# abolghasemi2026, chapter 2


def _letters(marker: str) -> set[str]:
    """Letters of a printed marker, ranges spelled out ("a-c" is a, b, c)."""
    spelled = re.sub(
        r"([a-z])-([a-z])",
        lambda span: "".join(map(chr, range(ord(span[1]), ord(span[2]) + 1))),
        marker,
    )
    return set(re.findall(r"[a-z]", spelled))


def _bad_letters(table: pd.DataFrame) -> Iterator[tuple[str, str, str, str]]:
    """Row, task, metric and letters of cells whose letters cannot mean "better than that row"."""
    for (task, metric), column in table.groupby(["task", "metric"], sort=False):
        values = dict(zip(column["row"], column["value"].astype(float), strict=True))
        for cell in column.itertuples():
            bad = {
                letter
                for letter in _letters(cell.marker)
                if values.get(letter, float("inf")) >= values[cell.row]
            }
            if bad:
                yield cell.row, task, metric, "".join(sorted(bad))


@_register
def audit_abolghasemi2026_impossible_letters(cells: Cells) -> Finding:
    """Table 2.1: letters of significance that name no row, their own, or a better row."""
    found = [
        f"{row} {task} {metric}: {bad}"
        for row, task, metric, bad in _bad_letters(cells("table_2_1"))
    ]
    return _listed(found, "every letter names a row with a lower value")


@_register
def audit_abolghasemi2026_tildev2_claim(cells: Cells) -> Finding:
    """L460: TILDEv2 with BERT (row f) beats TILDE with BERT (row c); Table 2.1 by column."""
    pairs = _pick(cells("table_2_1"), row=["c", "f"]).pivot(
        index=["task", "metric"], columns="row", values="value"
    )
    against = pairs[pairs["f"].astype(float) <= pairs["c"].astype(float)]
    return _listed(
        (f"{task} {metric}: {row.f} against {row.c}" for (task, metric), row in against.iterrows()),
        f"TILDEv2 is higher in all {len(pairs)} columns",
    )


@_register
def audit_abolghasemi2026_own_row_letter(cells: Cells) -> Finding:
    """Table 2.3: a letter of significance that names its own row."""
    return _listed(
        (
            f"{row} {task} {metric}: {bad}"
            for row, task, metric, bad in _bad_letters(cells("table_2_3"))
            if row in bad
        ),
        "no letter names its own row",
    )


@_register
def audit_abolghasemi2026_token_quantiles(cells: Cells) -> Finding:
    """L442: the tokeniser with the lower mean has the higher 90 % quantile."""
    text = cells("text_2")
    mean = [
        _number(text, claim=f"mean tokens of abstract+title, {name} tokenizer")
        for name in ("BERT", "SciBERT")
    ]
    tail = [
        _number(text, claim=f"90% quantile of tokens, {name} (in printed order)")
        for name in ("BERT", "SciBERT")
    ]
    return Finding(
        (mean[0] - mean[1]) * (tail[0] - tail[1]) < 0,
        f"means {mean[0]:g} and {mean[1]:g}, 90 % quantiles {tail[0]:g} and {tail[1]:g}",
    )


@_register
def check_abolghasemi2026_repeated_rows(cells: Cells) -> Finding:
    """Rows that Tables 2.1, 2.2 and 2.3 repeat agree in every column."""
    tables = {name: cells(f"table_{name}") for name in ("2_1", "2_2", "2_3")}
    repeats = [("2_2", "h", "a"), ("2_2", "j", "b")]
    repeats += [("2_3", "a", "a"), ("2_3", "b", "e"), ("2_3", "c", "h")]
    faults, compared = [], 0
    for name, theirs, ours in repeats:
        for cell in _pick(tables[name], row=theirs).itertuples():
            compared += 1
            first = _number(tables["2_1"], row=ours, task=cell.task, metric=cell.metric)
            if first != float(cell.value):
                faults.append(f"{name} {theirs} {cell.task} {cell.metric}: {cell.value}, {first:g}")
    return _agrees(faults, f"{compared} repeated cells are equal")


@_register
def check_abolghasemi2026_oracle_bound(cells: Cells) -> Finding:
    """Table 2.4: the best weight for each query is not below the weight tuned for all (2.3)."""
    tuned, faults = cells("table_2_3"), []
    oracle = _pick(cells("table_2_4"), row="ranking quality")
    for cell in oracle.itertuples():
        model = cell.combination.replace("oracle ", "")
        one = _number(tuned, model=model, task=cell.task, metric=cell.metric)
        if float(cell.value) < one:
            faults.append(f"{model} {cell.task} {cell.metric}: {cell.value} below {one:g}")
    return _agrees(faults, f"{len(oracle)} oracle values are not below the tuned ones")


# abolghasemi2026, chapter 3

_SATISFIED, _DISSATISFIED = "Satisfaction", "Dissatisfaction"


#: Columns of Table 3.6 by their name in the library.
_MEASURES = {"Acc": "accuracy", "P": "precision", "R": "recall", "F1": "f1"}


class _Size(NamedTuple):
    """Samples of each class."""

    satisfied: int
    dissatisfied: int


def _sizes(cells: Cells, dataset: str, test_data: str) -> _Size:
    """Satisfied and dissatisfied samples of a test set (Table 3.5; Mixed is Main and CF)."""
    table = cells("table_3_5")
    parts = ["Main", "CF"] if test_data == "Mixed" else [test_data]
    return _Size(
        *(
            int(sum(_number(table, row=row, dataset=dataset, collection=part) for part in parts))
            for row in (_SATISFIED, _DISSATISFIED)
        )
    )


def _fitting(printed: dict[str, float], size: _Size) -> list[Confusion]:
    """Confusion matrices that fit the four measures of a row."""
    return fitting_confusions({_MEASURES[name]: value for name, value in printed.items()}, *size)


def _runs(cells: Cells) -> Iterator[tuple[tuple[str, str, str, str], dict[str, float], _Size]]:
    """Rows of Table 3.6: key (test data, model, setup, data set), measures, size."""
    key = ["test_data", "model", "setup", "dataset"]
    for name, row in cells("table_3_6").groupby(key, sort=False):
        printed = dict(zip(row["metric"], row["value"].astype(float), strict=True))
        yield name, printed, _sizes(cells, dataset=name[3], test_data=name[0])


@_register
def check_abolghasemi2026_one_confusion_matrix(cells: Cells) -> Finding:
    """Each row of Table 3.6 fits exactly one confusion matrix of the sizes in Table 3.5."""
    counts = {name: len(_fitting(printed, size)) for name, printed, size in _runs(cells)}
    return _agrees(
        (f"{' '.join(name)}: {n} matrices" for name, n in counts.items() if n != 1),
        f"{len(counts)} rows fit one matrix each",
    )


@_register
def audit_abolghasemi2026_mixed_is_not_the_sum(cells: Cells) -> Finding:
    """Table 3.6: rows of the mixed set whose right answers are not those of Main and CF."""
    right = {name: _fitting(printed, size) for name, printed, size in _runs(cells)}
    found, mixed = [], [name for name in right if name[0] == "Mixed"]
    for name in mixed:
        unions = [
            Confusion(*map(sum, zip(main, cf, strict=True)))
            for main in right[("Main", *name[1:])]
            for cf in right[("CF", *name[1:])]
        ]
        if not set(unions) & set(right[name]):
            sums, printed = (
                [(fit.satisfied_right, fit.dissatisfied_right) for fit in fits]
                for fits in (unions, right[name])
            )
            found.append(f"{' '.join(name[1:])}: sum {sums}, printed {printed}")
    return _listed(found, f"all {len(mixed)} mixed rows are sums")


@_register
def audit_abolghasemi2026_cut_not_rounded(cells: Cells) -> Finding:
    """Table 3.6: measures that are cut after two decimals where the others are rounded."""
    found = []
    for name, printed, size in _runs(cells):
        for right in _fitting(printed, size):
            for metric, exact in zip(_MEASURES, scores(right), strict=True):
                if abs(exact - printed[metric]) > 0.005 + 1e-9:
                    place = f"{' '.join(name)} {metric}"
                    found.append(f"{place}: {exact:.3f} printed {printed[metric]:.2f}")
    return _listed(found, "all measures are rounded")


@_register
def audit_abolghasemi2026_main_claim(cells: Cells) -> Finding:
    """L788: on Main, BERT and ASAP do better than both language models; macro F1 of Table 3.6."""
    main = _pick(cells("table_3_6"), test_data="Main", metric="F1")
    found = []
    for dataset, column in main.groupby("dataset", sort=False):
        best = _pick(column, setup="Few-shot")["value"].astype(float).max()
        for cell in _pick(column, model=["BERT", "ASAP"]).itertuples():
            if float(cell.value) <= best:
                found.append(f"{dataset} {cell.model} {cell.setup}: {cell.value} against {best:g}")
    return _listed(found, "every BERT and ASAP row is above both language models")


@_register
def audit_abolghasemi2026_no_integer_overlap(cells: Cells) -> Finding:
    """Table 3.7: overlaps that no whole number of common samples gives.

    The overlap of the solved samples M of Main and C of CF is n / (M + C - n) (L828); M and C
    follow from the accuracies of Table 3.6, for each setup of the model.
    """
    solved: dict[tuple[str, str, str], dict[str, int]] = {}
    for (part, model, setup, dataset), printed, size in _runs(cells):
        right = round(printed["Acc"] * sum(size) / 100)
        solved.setdefault((model, setup, dataset), {})[part] = right
    found = []
    for cell in cells("table_3_7").itertuples():
        overlap = float(cell.value)
        possible = False
        for (model, _, dataset), right in solved.items():
            if (model, dataset) == (cell.row, cell.dataset):
                both = right["Main"] + right["CF"]
                common = round(overlap * both / (1 + overlap))
                possible |= abs(common / (both - common) - overlap) <= 0.00005 + 1e-9
        if not possible:
            found.append(f"{cell.row} {cell.dataset} {cell.value}")
    return _listed(found, "every overlap is a ratio of whole numbers")


@_register
def audit_abolghasemi2026_main_ratio(cells: Cells) -> Finding:
    """L821: Main has a ratio of about 95 to 5; shares of dissatisfaction by Table 3.5."""
    main = _pick(cells("table_3_5"), collection="Main", row=[_SATISFIED, _DISSATISFIED])
    shares = {
        dataset: 100 * _number(part, row=_DISSATISFIED) / part["value"].astype(float).sum()
        for dataset, part in main.groupby("dataset", sort=False)
    }
    ratios = ", ".join(f"{name} {100 - share:.1f}:{share:.1f}" for name, share in shares.items())
    # "About 95:5" is taken as what rounds to it in steps of the experiment, 5 points.
    off = any(abs(share - 5) > 2.5 for share in shares.values())
    return Finding(off, f"{ratios}; the text says 95:5")


@_register
def check_abolghasemi2026_rating_sums(cells: Cells) -> Finding:
    """Table 3.1: dissatisfaction is ratings 1 and 2, satisfaction the rest."""
    table = cells("table_3_1")
    groups = {_DISSATISFIED: "12", _SATISFIED: "345"}
    faults = []
    for dataset, (row, ratings) in itertools.product(("MultiWOZ", "SGD"), groups.items()):
        parts = sum(_number(table, row=f"rating {n}", dataset=dataset) for n in ratings)
        if parts != _number(table, row=row, dataset=dataset):
            faults.append(f"{dataset} {row}: ratings sum to {parts:g}")
    return _agrees(faults, "4 sums of ratings are as printed")


@_register
def check_abolghasemi2026_split_sums(cells: Cells) -> Finding:
    """Tables 3.2 and 3.5: totals are sums, and the test part of 3.2 is Main of 3.5."""
    splits, sets = cells("table_3_2"), cells("table_3_5")
    faults = []
    for table, part in ((splits, "split"), (sets, "collection")):
        for (dataset, name), column in table.groupby(["dataset", part], sort=False):
            total = _number(column, row=_SATISFIED) + _number(column, row=_DISSATISFIED)
            if total != _number(column, row="Total"):
                faults.append(f"{dataset} {name}: parts sum to {total:g}")
    for cell in _pick(splits, split="Test").itertuples():
        if float(cell.value) != _number(
            sets, row=cell.row, dataset=cell.dataset, collection="Main"
        ):
            faults.append(f"{cell.dataset} {cell.row}: test part is not Main")
    return _agrees(faults, "10 totals are sums, and the test parts agree")


@_register
def check_abolghasemi2026_success_rates(cells: Cells) -> Finding:
    """Table 3.4: flipped shares follow from the sizes of Table 3.5."""
    sets, faults = cells("table_3_5"), []
    # What was satisfied is dissatisfied in CF, so the row of CF is the other one.
    turned = {_SATISFIED: _DISSATISFIED, _DISSATISFIED: _SATISFIED, "Overall": "Total"}
    for cell in cells("table_3_4").itertuples():
        before = "Total" if cell.row == "Overall" else cell.row
        kept = _number(sets, row=turned[cell.row], dataset=cell.dataset, collection="CF")
        share = 100 * kept / _number(sets, row=before, dataset=cell.dataset, collection="Main")
        if abs(share - float(cell.value)) > 0.05:
            faults.append(f"{cell.dataset} {cell.row}: {share:.2f}, printed {cell.value}")
    return _agrees(faults, "6 shares follow from the sizes")


# abolghasemi2026, chapter 4, and abolghasemi2024, the paper it comes from


def _correlation_bound(correlations: pd.DataFrame, bound: float) -> Finding:
    above = correlations[correlations["value"].astype(float) >= bound]
    return _listed(
        (f"{c.row} {c.query_set}: {c.value}, not below {bound}" for c in above.itertuples()),
        f"all correlations are below {bound}",
    )


def _same_texfair_twice(table: pd.DataFrame) -> Finding:
    column = _pick(table, metric="TExFAIR")
    twins = column[column.duplicated(["query_set", "value"], keep=False)]
    return _listed(
        (
            f"{query_set}: {' and '.join(rows['row'])} have {value}"
            for (query_set, value), rows in twins.groupby(["query_set", "value"], sort=False)
        ),
        "no two rankers share a value",
    )


#: Rankers of Table 4.2 by their names in Table 4.1.
_RANKERS = {"BM25": "BM25", "BERT": "BERT", "MiniLM": "MiniLM_KD", "TinyBERT": "TinyBERT_KD"}


def _query_sets_exchanged(effectiveness: pd.DataFrame, overlap: pd.DataFrame) -> Finding:
    own = other = 0
    copied = _pick(overlap, metric=["TExFAIR", "NFaiRR"])
    for cell in copied.itertuples():
        by_set = {
            query_set: _text(
                effectiveness, row=_RANKERS[cell.row], metric=cell.metric, query_set=query_set
            )
            for query_set in ("QS1", "QS2")
        }
        own += by_set.pop(cell.query_set) == cell.value
        other += cell.value in by_set.values()
    return Finding(
        other > own,
        f"of {len(copied)} values {own} stand under their own query set, {other} under the other",
    )


def _bert_texfair(effectiveness: pd.DataFrame, overlap: pd.DataFrame) -> Finding:
    column = _pick(effectiveness, metric="TExFAIR")
    printed = _text(overlap, row="BERT", query_set="QS2", metric="TExFAIR")
    bert = list(_pick(column, row="BERT")["value"])
    others = list(column.loc[(column["value"] == printed) & (column["row"] != "BERT"), "row"])
    return Finding(
        printed not in bert and bool(others),
        f"{printed}; BERT has {' and '.join(bert)}, others with it: {', '.join(others) or 'none'}",
    )


def _overlap_variant(overlap: pd.DataFrame, p: float) -> Finding:
    same = list(range(10))
    highest = {variant: rbo(same, same, p, variant=variant) for variant in ("truncated", "min")}
    printed = _pick(overlap, metric="CRBO")["value"].astype(float)
    ruled_out = [name for name, value in highest.items() if printed.min() > value]
    largest = ", ".join(f"{name} {value:.3f}" for name, value in highest.items())
    return Finding(
        len(ruled_out) == len(highest),
        f"{printed.min()} to {printed.max()} printed; the largest of ten documents are {largest}",
    )


@_register
def audit_abolghasemi2026_correlation_bound(cells: Cells) -> Finding:
    """L1146: correlations are below 0.55; Table 4.1."""
    bound = _number(cells("text_4"), claim="range of query-level Pearson r (upper, exclusive)")
    table = _pick(cells("table_4_1"), metric="Pearson r (TExFAIR,NFaiRR)")
    return _correlation_bound(table, bound)


@_register
def audit_abolghasemi2024_correlation_bound(cells: Cells) -> Finding:
    """L155: correlations are below 0.55; Table 1."""
    return _correlation_bound(_pick(cells("table_1"), metric="r"), bound=0.55)


@_register
def audit_abolghasemi2026_same_texfair_twice(cells: Cells) -> Finding:
    """Table 4.1: rankers with one TExFAIR value on a query set."""
    return _same_texfair_twice(cells("table_4_1"))


@_register
def audit_abolghasemi2024_same_texfair_twice(cells: Cells) -> Finding:
    """Table 1: rankers with one TExFAIR value on a query set."""
    return _same_texfair_twice(cells("table_1"))


@_register
def audit_abolghasemi2026_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 4.2 repeats values of Table 4.1 under the other query set."""
    return _query_sets_exchanged(cells("table_4_1"), cells("table_4_2"))


@_register
def audit_abolghasemi2024_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 2 repeats values of Table 1 under the other query set."""
    return _query_sets_exchanged(cells("table_1"), cells("table_2"))


@_register
def audit_abolghasemi2026_bert_texfair(cells: Cells) -> Finding:
    """Table 4.2 gives BERT a value that Table 4.1 has for another ranker."""
    return _bert_texfair(cells("table_4_1"), cells("table_4_2"))


@_register
def audit_abolghasemi2024_bert_texfair(cells: Cells) -> Finding:
    """Table 2 gives BERT a value that Table 1 has for another ranker."""
    return _bert_texfair(cells("table_1"), cells("table_2"))


@_register
def audit_abolghasemi2026_overlap_variant(cells: Cells) -> Finding:
    """Table 4.2: overlaps that neither the truncated nor the least form can reach at ten ranks."""
    p = _number(cells("text_4"), claim="RBO p")
    return _overlap_variant(cells("table_4_2"), p)


@_register
def audit_abolghasemi2024_overlap_variant(cells: Cells) -> Finding:
    """Table 2: the same."""
    return _overlap_variant(cells("table_2"), p=0.9)


@_register
def audit_abolghasemi2026_size_of_qs1(cells: Cells) -> Finding:
    """L1101: size of the first query set against its released annotation file (1,765)."""
    released = 1765
    printed = int(_text(cells("text_4"), claim="QS1 size"))
    return Finding(printed != released, f"{printed} printed, {released} in the released file")


@_register
def check_abolghasemi2024_equals_thesis(cells: Cells) -> Finding:
    """Tables 1 and 2 of the paper equal Tables 4.1 and 4.2 of the thesis, cell by cell."""
    faults, compared = [], 0
    # The paper's copy has a blank in one ranker's name, and its own name for the correlation.
    names = {"r": "Pearson r (TExFAIR,NFaiRR)"}
    for ours, theirs in (("table_1", "table_4_1"), ("table_2", "table_4_2")):
        thesis = cells(f"abolghasemi2026/{theirs}")
        for cell in cells(ours).itertuples():
            key = {"row": cell.row.replace("- ", "-"), "query_set": cell.query_set}
            value = _text(thesis, metric=names.get(cell.metric, cell.metric), **key)
            compared += 1
            if value != cell.value:
                faults.append(f"{cell.row} {cell.query_set} {cell.metric}: {cell.value}, {value}")
    return _agrees(faults, f"{compared} cells are equal in both prints")


# abolghasemi2026, chapter 5

_BLOCK = ["dataset", "generator", "relevant_author", "nonrelevant_author"]
_QUALITY = ["attribution precision", "attribution recall"]
#: Queries of either benchmark (L1346).
_QUERIES = 500


def _joined(cells: Cells, *names: str) -> pd.DataFrame:
    return pd.concat([cells(name) for name in names], ignore_index=True)


@_register
def audit_abolghasemi2026_daggers(cells: Cells) -> Finding:
    """Tables 5.1 and 5.11: daggers at values that are not above both other modes."""
    found = []
    for _, block in _joined(cells, "table_5_1", "table_5_11").groupby(
        [*_BLOCK, "metric"], sort=False
    ):
        best = block["value"].astype(float).max()
        for cell in block[block["marker"] == "†"].itertuples():
            if float(cell.value) < best:
                place = f"{cell.dataset} {cell.generator} {cell.rag_mode} {cell.metric}"
                found.append(f"{place}: {cell.value} below {best:g}")
    return _listed(found, "every dagger stands at the highest value of its block")


@_register
def audit_abolghasemi2026_gpt4_rows_missing(cells: Cells) -> Finding:
    """Table 5.14 lacks a model that Table 5.15 has."""
    nq, marco = (set(cells(name)["generator"]) for name in ("table_5_14", "table_5_15"))
    return _listed(sorted(f"{model} is missing" for model in marco - nq), "the models agree")


def _answers(cells: Cells) -> pd.DataFrame:
    """All shares of right answers of chapter 5 with the table they stand in."""
    names = ("table_5_1", "table_5_4", "table_5_11", "table_5_14", "table_5_15")
    parts = [cells(name).assign(table=name) for name in names]
    return _pick(pd.concat(parts, ignore_index=True), metric="EM correctness")


@_register
def audit_abolghasemi2026_em_no_multiple(cells: Cells) -> Finding:
    """Shares of right answers that are no whole number of the 500 queries (L1346)."""
    answers = _answers(cells)
    odd = answers[~answers["value"].map(lambda value: _multiple(float(value), 1 / 500))]
    return _listed(
        (
            f"{cell.table} {cell.generator} {cell.relevant_author} "
            f"{cell.mode_relevant}/{cell.mode_nonrelevant}: {cell.value}"
            for cell in odd.itertuples()
        ),
        f"all {len(answers)} shares are multiples of 1/500",
    )


@_register
def audit_abolghasemi2026_em_outlier(cells: Cells) -> Finding:
    """Tables 5.14 and 5.15: right answers that jump though both sides are told alike.

    The modes that tell both sides the same differ by 0.022 at most elsewhere; 0.05 is 25 queries.
    """
    found = []
    table = _pick(_joined(cells, "table_5_14", "table_5_15"), metric="EM correctness")
    alike = table[table["mode_relevant"] == table["mode_nonrelevant"]]
    for (dataset, model, author, _), block in alike.groupby(_BLOCK, sort=False):
        values = block["value"].astype(float)
        if values.max() - values.min() > 0.05:
            found.append(f"{dataset} {model} {author}: {', '.join(block['value'])}")
    return _listed(found, "shares of a block lie within 0.05")


@_register
def check_abolghasemi2026_recall_steps(cells: Cells) -> Finding:
    """Recalls of chapter 5 and their differences are multiples of 0.2 % (500 queries, L1346)."""
    names = [f"table_5_{n}" for n in (1, 2, 3, 4, 5, 7, 8, 9, 11, 14, 15)]
    table = _joined(cells, *names)
    recalls = table.loc[table["metric"].str.endswith("recall"), "value"]
    odd = [value for value in recalls if not _multiple(float(value), 0.2)]
    return _agrees(odd, f"{len(recalls)} values are multiples of 0.2 %")


@_register
def check_abolghasemi2026_precision_below_recall(cells: Cells) -> Finding:
    """With one relevant document a query, precision cannot exceed recall."""
    faults, compared = [], 0
    for name in ("table_5_1", "table_5_4", "table_5_11", "table_5_14", "table_5_15"):
        table = cells(name)
        precision, recall = (
            _pick(table, metric=metric)["value"].astype(float).to_list() for metric in _QUALITY
        )
        pairs = list(zip(precision, recall, strict=True))
        compared += len(pairs)
        faults += [f"{name}: {p:g} above {r:g}" for p, r in pairs if p > r]
    return _agrees(faults, f"{compared} precisions are not above their recall")


def _signed_and_absolute(cells: Cells) -> pd.DataFrame:
    """Table 5.2 beside the signed difference Informed - Vanilla of Tables 5.1 and 5.11."""
    quality = _joined(cells, "table_5_1", "table_5_11")
    table = cells("table_5_2")
    signed = []
    for _, cell in table.iterrows():
        key = {name: cell[name] for name in _BLOCK}
        key["metric"] = cell["metric"].replace("CAS delta", "attribution")
        told, plain = (_number(quality, rag_mode=m, **key) for m in ("Informed", "Vanilla"))
        signed.append(round(told - plain, 1))
    return table.assign(signed=signed, value=table["value"].astype(float))


@_register
def check_abolghasemi2026_sensitivity_parity(cells: Cells) -> Finding:
    """Table 5.2: mean absolute and mean signed difference of recalls fit together (Eq. 5.1).

    A recall is 0 or 1, so the two sums over 500 queries are both even or both odd, and the
    absolute one is not below the signed one. Twelve such cells by chance: 1 in 4,096.
    """
    table = _signed_and_absolute(cells)
    recalls = table[table["metric"] == "CAS delta recall"]
    faults = [
        f"{row.dataset} {row.generator} {row.relevant_author}: {row.value}, {row.signed}"
        for row in recalls.itertuples()
        if (round(5 * row.value) - round(5 * row.signed)) % 2 or row.value < abs(row.signed)
    ]
    return _agrees(faults, f"{len(recalls)} pairs fit")


@_register
def check_abolghasemi2026_sensitivity_daggers(cells: Cells) -> Finding:
    """Table 5.2: daggers stand exactly where the signed difference is 2.7 points or more."""
    table = _signed_and_absolute(cells)
    marked = table["signed"].abs()[table["marker"] == "†"]
    plain = table["signed"].abs()[table["marker"] != "†"]
    return Finding(
        marked.min() > plain.max(), f"marked from {marked.min()}, unmarked up to {plain.max()}"
    )


@_register
def check_abolghasemi2026_sensitivity_tests(cells: Cells) -> Finding:
    """Table 5.2: its daggers are those of a paired t-test of Informed - Vanilla (L1352).

    A recall is 0 or 1, so the mean absolute difference says how many recalls changed, and the test
    is determined. Of a precision it bounds the sum of squares, which settles most tests.
    """
    tests = _sensitivity_tests(cells)
    settled = tests[tests["significant"] != "open"]
    wrong = settled[(settled["marker"] == "†") != (settled["significant"] == "yes")]
    return _agrees(
        (f"{_place(row)}: {row['significant']}, {row['marker']!r}" for _, row in wrong.iterrows()),
        f"{len(settled)} of {len(tests)} tests are determined, and their daggers are right",
    )


def _sensitivity_tests(cells: Cells) -> pd.DataFrame:
    """Tests behind Table 5.2, with its markers."""
    quality, printed = _joined(cells, "table_5_1", "table_5_11"), cells("table_5_2")
    return sensitivity_significance(quality, printed, _QUERIES).assign(
        marker=printed["marker"].to_numpy()
    )


def _place(row: pd.Series) -> str:
    return f"{row['dataset']} {row['generator']} {row['relevant_author']} {row['metric']}"


@_register
def audit_abolghasemi2026_dagger_pairs(cells: Cells) -> Finding:
    """Tables 5.1 and 5.11: Informed is marked as better than Vanilla where Table 5.2 is not.

    Both are a paired t-test of the same answers (L1352), if Table 5.2 tests signed differences.
    Values below Vanilla's are those of `audit_abolghasemi2026_daggers`.
    """
    unmarked = _sensitivity_tests(cells).query("marker != '†' and first > second")
    marked = _joined(cells, "table_5_1", "table_5_11").query(
        "marker == '†' and rag_mode == 'Informed'"
    )
    marked = marked.assign(metric=marked["metric"].str.replace("attribution", "CAS delta"))
    both = unmarked.merge(marked[[*_BLOCK, "metric"]], on=[*_BLOCK, "metric"])
    return _listed(
        (f"{_place(row)}: {row['first']}† and {row['second']}" for _, row in both.iterrows()),
        "every dagger at Informed stands in Table 5.2 too",
    )


@_register
def audit_abolghasemi2026_dagger_few_changes(cells: Cells) -> Finding:
    """Tables 5.1 and 5.11: a dagger that only nearly unchanged answers could have.

    CF-informed is marked as better than Vanilla. The test limits how many recalls may have changed
    (as many as they sum to, or more by an even number), and where that is less than a quarter of
    what Informed changed (Table 5.2), it is hard to believe: both tell the same two labels.
    """
    recall = _pick(_joined(cells, "table_5_1", "table_5_11"), metric="attribution recall")
    modes = recall.pivot(index=_BLOCK, columns="rag_mode", values="value").astype(float)
    marked = recall.query("marker == '†' and rag_mode == 'CF-informed'")
    changed = _pick(cells("table_5_2"), metric="CAS delta recall").set_index(_BLOCK)["value"]
    found = []
    for place in marked[_BLOCK].itertuples(index=False, name=None):
        first, second = modes.loc[place, "CF-informed"], modes.loc[place, "Vanilla"]
        allowed = significance(first, second, _QUERIES, metric="recall").allowed
        informed = float(changed[place]) / 100 * _QUERIES
        if allowed < informed / 4 and first > second:
            found.append(
                f"{' '.join(place[:3])}: {first}† and {second}, at most {allowed:.0f} of "
                f"{_QUERIES} may change, Informed changes {informed:.0f}"
            )
    return _listed(found, "every dagger is plausible")


@_register
def audit_abolghasemi2026_effect_of_adding(cells: Cells) -> Finding:
    """L1206, L1513: naming authors changes quality by 3 to 18 points; marked cells of Table 5.2.

    What naming them changes is Informed - Vanilla. The stated range is that of the bias, which
    compares two ways of naming them (Tables 5.3 and 5.5).
    """
    text = cells("text_5")
    stated = [
        _text(text, claim=f"authorship information changes attribution quality by ({end})")
        for end in ("low", "high")
    ]
    tests = _pick(_sensitivity_tests(cells), marker="†")
    sizes = (tests["first"] - tests["second"]).abs()
    found = [f"{sizes.min():.0f}", f"{sizes.max():.0f}"]
    return Finding(
        found != stated,
        f"from {sizes.min():.1f} to {sizes.max():.1f}, stated {' to '.join(stated)}",
    )


@_register
def check_abolghasemi2026_cited_equals_recall(cells: Cells) -> Finding:
    """Tables 5.12 and 5.13: mean cited relevant documents are the recalls of 5.1 and 5.11."""
    recalls = _pick(_joined(cells, "table_5_1", "table_5_11"), metric="attribution recall")
    cited = _pick(_joined(cells, "table_5_12", "table_5_13"), metric="avg cited relevant")
    both = cited.merge(recalls, on=[*_BLOCK, "rag_mode"], suffixes=("", "_recall"))
    off = (both["value"].astype(float) - both["value_recall"].astype(float) / 100).abs() > 1e-9
    faults = [f"{' '.join(row[_BLOCK])} {row['rag_mode']}" for _, row in both[off].iterrows()]
    return _agrees(faults, f"{len(both)} means equal recall / 100")


@_register
def check_abolghasemi2026_mixed_rows(cells: Cells) -> Finding:
    """Table 5.4 repeats rows of Table 5.14 for the models that our copy of 5.14 has."""
    key = [*_BLOCK, "mode_relevant", "mode_nonrelevant", "metric"]
    both = cells("table_5_4").merge(cells("table_5_14"), on=key, suffixes=("", "_full"))
    off = both[both["value"].astype(float) != both["value_full"].astype(float)]
    return _agrees(
        (f"{' '.join(row[key])}: {row['value']}, {row['value_full']}" for _, row in off.iterrows()),
        f"{len(both)} cells are equal",
    )


def _bias_faults(
    bias: pd.DataFrame, quality: pd.DataFrame, modes: Callable[[pd.Series], dict[str, dict]]
) -> tuple[list[str], int]:
    """Cells of a bias table that are not the difference of two quality cells, within 0.1."""
    faults, compared = [], 0
    for _, cell in bias.iterrows():
        metric = cell["metric"].replace("CAB delta", "attribution")
        key = {name: cell[name] for name in _BLOCK} | {"metric": metric}
        pair = [_pick(quality, **key, **mode)["value"] for mode in modes(cell).values()]
        if any(part.empty for part in pair):
            continue
        compared += 1
        human, machine = (float(part.iloc[0]) for part in pair)
        if abs(human - machine - float(cell["value"])) > 0.1 + 1e-9:
            faults.append(f"{' '.join(key.values())}: {human - machine:.1f}, {cell['value']}")
    return faults, compared


@_register
def check_abolghasemi2026_bias_from_quality(cells: Cells) -> Finding:
    """Table 5.3 is the signed difference of Tables 5.1 and 5.11 (Eq. 5.2), within 0.1.

    Both are rounded to 0.1, so a difference of rounded values may be off by 0.1.
    """

    def modes(cell: pd.Series) -> dict[str, dict]:
        told = ["Informed", "CF-informed"]
        human, machine = told if cell["relevant_author"] == "Human" else told[::-1]
        return {"human": {"rag_mode": human}, "machine": {"rag_mode": machine}}

    faults, compared = _bias_faults(
        cells("table_5_3"), _joined(cells, "table_5_1", "table_5_11"), modes
    )
    return _agrees(faults, f"{compared} biases follow within 0.1")


@_register
def check_abolghasemi2026_mixed_bias_from_quality(cells: Cells) -> Finding:
    """Table 5.5 is the signed difference of Tables 5.4, 5.14 and 5.15 (Eq. 5.5), within 0.1."""

    def modes(cell: pd.Series) -> dict[str, dict]:
        told = ["Informed", "CF-informed"]
        human, machine = told if cell["relevant_author"] == "Human" else told[::-1]
        return {
            "human": {"mode_relevant": human, "mode_nonrelevant": machine},
            "machine": {"mode_relevant": machine, "mode_nonrelevant": human},
        }

    quality = _joined(cells, "table_5_4", "table_5_14", "table_5_15")
    faults, compared = _bias_faults(cells("table_5_5"), quality, modes)
    return _agrees(faults, f"{compared} biases follow within 0.1")


@_register
def check_abolghasemi2026_effect_range(cells: Cells) -> Finding:
    """L1206: effects of 3 to 18 points; smallest and largest bias of Tables 5.3 and 5.5."""
    text = cells("text_5")
    stated = [
        _number(text, claim=f"authorship information changes attribution quality by ({end})")
        for end in ("low", "high")
    ]
    sizes = _joined(cells, "table_5_3", "table_5_5")["value"].astype(float).abs()
    found = [round(sizes.min()), round(sizes.max())]
    return Finding(found == stated, f"from {sizes.min()} to {sizes.max()}, stated {stated}")


# heuss2025


@_register
def audit_heuss2025_repeated_column(cells: Cells) -> Finding:
    """Table 2.1: the 2019 test column before the filter repeats the training column."""
    table = _pick(cells("table_2_1"), dataset="TREC2019", version="original")
    pairs = table.pivot(index="metric", columns="split", values="value")
    same = (pairs["train"] == pairs["test"]).all()
    return Finding(bool(same), "; ".join(f"{m}: {r.train}, {r.test}" for m, r in pairs.iterrows()))


@_register
def audit_heuss2025_deterministic_differs(cells: Cells) -> Finding:
    """Tables 2.2 and 2.3: one deterministic ranker, two sets of first-ten measures."""
    metrics = ["NDCG@5", "NDCG@10", "P(u|pi)@10", "Outlierness@10"]
    tables = [
        _pick(cells(name), row="Deterministic", metric=metrics)
        for name in ("table_2_2", "table_2_3")
    ]
    both = tables[0].merge(tables[1], on=["dataset", "metric"], suffixes=("", "_full"))
    off = both[both["value"] != both["value_full"]]
    return _listed(
        (f"{r.dataset} {r.metric}: {r.value}, {r.value_full}" for r in off.itertuples()),
        "the measures agree",
    )


@_register
def audit_heuss2025_deterministic_unmarked(cells: Cells) -> Finding:
    """Table 2.3, TREC20: unmarked NDCG differences that exceed marked ones of their column."""
    found = []
    table = _pick(cells("table_2_3"), dataset="TREC20", metric=["NDCG@5", "NDCG@10"])
    for metric, column in table.groupby("metric", sort=False):
        best = _number(column, row="FELIX_iter=20")
        size = (column["value"].astype(float) - best).abs()
        smallest = size[column["marker"] == "*"].min()
        for place in column.index[(column["marker"] != "*") & (size > smallest)]:
            cell = f"{metric} {column.at[place, 'row']}: {size[place]:.3f} unmarked"
            found.append(f"{cell}, {smallest:.3f} marked")
    return _listed(found, "every difference above a marked one is marked")


@_register
def audit_heuss2025_adv_misses_both_limits(cells: Cells) -> Finding:
    """Table 3.1: ADV loses more utility than either allowed loss; its caption names one."""
    table = _pick(cells("table_3_1"), metric="nDCG@100")
    loss = _number(table, row="UNFAIR") - _number(table, row="ADV")
    return Finding(loss > 0.02 + 1e-9, f"loss {loss:.2f}, allowed 0.01 and 0.02")


def _talent_scores(cells: Cells, *, biased: bool) -> dict[str, float]:
    """Score of each candidate (section 4.5): skills + experience + grade in its range.

    Unmet requirements cost three quarters, but not from the favoured university in the biased
    model, which takes a tenth from the disfavoured one.
    """
    candidates = cells("table_4_A_1").pivot(index="row", columns="metric", values="value")
    schools = cells("table_4_A_2").pivot(index="row", columns="metric", values="value")
    scores = {}
    for name, person in candidates.iterrows():
        school = schools.loc[person["university"]]
        low, high = float(school["lowest_grade"]), float(school["highest_grade"])
        score = float(person["skills"]) + float(person["experience"])
        score += (float(person["grades"]) - low) / (high - low)
        if person["req"] == "False" and not (biased and school["model_bias"] == "Positive"):
            score *= 0.25
        if biased and school["model_bias"] == "Negative":
            score *= 0.9
        scores[str(name)] = score
    return scores


def _rank_faults(cells: Cells, *, biased: bool) -> dict[str, list[str]]:
    """Candidates of each query whose printed rank is not that of the model's scores."""
    scores = _talent_scores(cells, biased=biased)
    faults = {}
    for query, column in cells("table_4_A_3").groupby("query", sort=False):
        printed = dict(zip(column["row"], column["value"].astype(int), strict=True))
        present = [name for name, rank in printed.items() if rank > 0]
        order = sorted(present, key=lambda name: -scores[name])
        faults[str(query)] = [
            f"{name} {scores[name]:.3f}: rank {rank}, printed {printed[name]}"
            for rank, name in enumerate(order, start=1)
            if printed[name] != rank
        ]
    return faults


@_register
def audit_heuss2025_biased_column(cells: Cells) -> Finding:
    """Table 4.A.3, query "biased": printed ranks are not those of the biased ranker."""
    faults = _rank_faults(cells, biased=True)["biased"]
    return _listed(faults, "the column holds the ranks of the biased ranker")


@_register
def check_heuss2025_other_ranks(cells: Cells) -> Finding:
    """Table 4.A.3: the four other queries have the ranks of the biased ranker."""
    faults = _rank_faults(cells, biased=True)
    others = [fault for query, found in faults.items() if query != "biased" for fault in found]
    return _agrees(others, "4 queries come out as printed")


@_register
def check_heuss2025_unbiased_column(cells: Cells) -> Finding:
    """Table 4.A.3, query "biased": printed ranks are those of the unbiased ranker."""
    return _agrees(_rank_faults(cells, biased=False)["biased"], "the ranks are the unbiased ones")


@_register
def audit_heuss2025_columns_do_not_sum(cells: Cells) -> Finding:
    """Table 5.2: answers sum to less than the 1,444 questions of section 5.5."""
    questions = 1444
    sums = cells("table_5_2").astype({"value": int}).groupby("selection_step", sort=False)["value"]
    totals = sums.sum().to_dict()
    return Finding(
        any(total != questions for total in totals.values()),
        f"{', '.join(f'{step} {total}' for step, total in totals.items())}; {questions} questions",
    )


@_register
def audit_heuss2025_share_cited(cells: Cells) -> Finding:
    """L1885: 46 % of what was predicted to be cited is cited; share of answers in Table 5.2."""
    stated = 46
    column = _pick(cells("table_5_2"), selection_step="Pred. Cited").astype({"value": int})
    share = 100 * _number(column, row="Cited all selected documents") / column["value"].sum()
    return Finding(round(share) != stated, f"{share:.1f} % by the table, {stated} % in the text")


@_register
def check_heuss2025_random_set(cells: Cells) -> Finding:
    """L1899: the 1,344 question-answer pairs are the answers that cite selected documents."""
    stated = 1344
    column = _pick(cells("table_5_2"), selection_step="Pred. Rel.")
    parts = [_number(column, row=f"Cited {n} selected documents") for n in ("all", "less than all")]
    return Finding(sum(parts) == stated, f"{parts[0]:g} + {parts[1]:g}, stated {stated}")


# lajewska2025

#: The chapters' significance level (L979).
_ALPHA = 0.05


def _p_values(table: pd.DataFrame, **key: str | list[str]) -> pd.DataFrame:
    """Rows with p-values of a table of ANOVAs, as numbers."""
    return _pick(table, metric="p_value", **key).astype({"value": float})


def _named(rows: pd.DataFrame, *columns: str) -> Iterator[str]:
    """One line a row: its key columns and its value."""
    for _, row in rows.iterrows():
        yield f"{' '.join(row[list(columns)])} {row['value']}"


def _omega_squared(f: float, df: int, n: int) -> float:
    """Unbiased effect size of a term with `df` degrees of freedom at `n` ratings.

    Examples
    --------
    >>> round(_omega_squared(f=1.0, df=1, n=60), 3)
    0.0
    """
    return df * (f - 1) / (df * (f - 1) + n)


@_register
def audit_lajewska2025_table_3_2_drop(cells: Cells) -> Finding:
    """L796: NDCG@3 is less than 16 % below the submitted run; Table 3.2."""
    table = _pick(cells("table_3_2"), metric="NDCG@3")
    ours = _number(table, row="WaterlooClarke reproduced by us")
    loss = 100 * (1 - ours / _number(table, row="WaterlooClarke@TREC’21 (runfile)"))
    return Finding(loss >= 16, f"{loss:.2f} % below; the text says under 16 %")


@_register
def audit_lajewska2025_table_3_2_closer(cells: Cells) -> Finding:
    """L867: WaterlooClarke was reproduced more closely than the baseline; Table 3.2.

    Neither against what the track reported nor against the run file that was submitted.
    """
    found, against = [], 0
    pairs = (
        ("BaselineOrganizers", "BaselineOrganizers@TREC’21"),
        ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21"),
        ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21 (runfile)"),
    )
    for metric, table in cells("table_3_2").groupby("metric", sort=False):
        baseline, *ours = (
            abs(_number(table, row=row) / _number(table, row=than) - 1) for row, than in pairs
        )
        shares = ", ".join(f"{100 * share:.1f}" for share in (baseline, *ours))
        found.append(f"{metric} {shares} %")
        against += baseline < min(ours)
    return Finding(
        against == len(found),
        "off by (baseline; WaterlooClarke as reported, its run file): " + "; ".join(found),
    )


@_register
def audit_lajewska2025_table_3_3_feedback(cells: Cells) -> Finding:
    """L869: feedback gains in NDCG@3, consistently; Table 3.3."""
    table = _pick(cells("table_3_3"), metric="NDCG@3")
    found = []
    for cell in table[table["row"].str.contains("/PRF")].itertuples():
        without = _number(table, row=cell.row.replace("/PRF", ""), cast_year=cell.cast_year)
        if float(cell.value) <= without:
            found.append(f"{cell.cast_year} {cell.row}: {cell.value} after {without:.4f}")
    return _listed(found, "all four rise")


@_register
def audit_lajewska2025_table_3_3_exceptions(cells: Cells) -> Finding:
    """L843: another rewriter changes NDCG@3 by less than 2 %, with one exception; Table 3.3."""
    table = _pick(cells("table_3_3"), metric="NDCG@3")
    found = []
    for cell in table[table["row"].str.startswith("T5_C ")].itertuples():
        other = _number(table, row=cell.row.replace("T5_C", "T5_Q"), cast_year=cell.cast_year)
        change = 100 * (other / float(cell.value) - 1)
        if abs(change) >= 2:
            found.append(f"{cell.cast_year} {cell.row}: {change:+.1f} %")
    return Finding(len(found) > 1, "; ".join(found) or "no change reaches 2 %")


@_register
def audit_lajewska2025_table_4_8_alpha(cells: Cells) -> Finding:
    """L1108: no controlled dimension is significant in the answerability study; Table 4.8."""
    p = _p_values(cells("table_4_8"), study="Answerability")
    below = p[p["value"] <= _ALPHA]
    return _listed(
        _named(below, "dependent_variable", "independent_variable"), f"all p are above {_ALPHA}"
    )


@_register
def audit_lajewska2025_table_4_8_balance(cells: Cells) -> Finding:
    """Tables 4.8 to 4.10: every term with balance but without diversity has p = 1.0."""
    p = pd.concat([_p_values(cells(f"table_4_{n}"), study="Viewpoints") for n in (8, 9, 10)])
    term = p["independent_variable"]
    balance = p[term.str.contains("Contr. Balance") & ~term.str.contains("Contr. Diversity")]
    ones = int((balance["value"] == 1).sum())
    return Finding(ones == len(balance), f"{ones} of {len(balance)} p-values are 1.0")


@_register
def audit_lajewska2025_table_4_9_interactions(cells: Cells) -> Finding:
    """L1137: query and its interactions affect all ratings of the answerability study."""
    p = _p_values(cells("table_4_9"), study="Answerability")
    above = p[p["value"] > _ALPHA]
    return _listed(
        _named(above, "dependent_variable", "independent_variable"), f"no p is above {_ALPHA}"
    )


@_register
def audit_lajewska2025_table_5_5_rankings(cells: Cells) -> Finding:
    """L1545: all sets of 3 of the 10 passages, for each of 38 test questions; Table 5.5.

    A question with fewer passages lacks at least C(10, 3) - C(9, 3) = 36 sets.
    """
    counts = _pick(cells("table_5_5"), row="#question-ranking pairs (test)")["value"].astype(int)
    missing = 38 * math.comb(10, 3) - int(counts.sum())
    step = math.comb(10, 3) - math.comb(9, 3)
    return Finding(
        0 < missing < step,
        f"{counts.sum()} rankings, {missing} fewer than 38 times {math.comb(10, 3)}; one passage "
        f"fewer takes away {step}",
    )


@_register
def audit_lajewska2025_table_6_2_coherence(cells: Cells) -> Finding:
    """L1848: coherence and conciseness are preferred significantly; markers of Table 6.2."""
    table = _pick(cells("table_6_2"), row="GINGER", metric=["Coh", "Con"])
    return _listed(
        (
            f"{cell.metric} {cell.value} has no marker"
            for cell in table[table["marker"] != "*"].itertuples()
        ),
        "both are marked",
    )


@_register
def audit_lajewska2025_table_6_2_follow_up(cells: Cells) -> Finding:
    """L2301: follow-up questions are more useful than the baseline's; Table 6.2."""
    table = cells("table_6_2")
    base, ours = (_text(table, row=row, metric="FQ_use") for row in ("Baseline", "GINGER"))
    return Finding(float(ours) <= float(base), f"GINGER {ours}, baseline {base}")


@_register
def audit_lajewska2025_table_6_3_completeness(cells: Cells) -> Finding:
    """L1864: the broad setting is the standard one; completeness of Tables 6.1 and 6.3."""
    standard = _text(cells("table_6_1"), row="GINGER", metric="Comp")
    broad = _text(cells("table_6_3"), row="GINGER broad", metric="Completeness")
    return Finding(standard != broad, f"standard {standard}, broad {broad}")


@_register
def audit_lajewska2025_table_6_7_order(cells: Cells) -> Finding:
    """L1776: systems have the same order by the track's scores and by the mean of three judges."""
    metrics = ["V_strict TREC", "V_strict avg LLM"]
    table = _pick(cells("table_6_7"), metric=metrics)
    scores = table.pivot(index="row", columns="metric", values="value").replace("-", None)
    scores = scores.dropna().astype(float)
    found = []
    for first, second in itertools.combinations(scores.index, 2):
        track, judges = (scores.at[first, m] - scores.at[second, m] for m in metrics)
        if track * judges < 0:
            found.append(f"{first} and {second}: {track:+.3f} by the track, {judges:+.3f} here")
    return _listed(found, f"the order of {len(scores)} systems is the same")


@_register
def audit_lajewska2025_table_7_4_scale(cells: Cells) -> Finding:
    """Table 7.4: an "S" where the p-value means an omega squared below 0.01, the scale's small.

    The ten queries have 9 degrees of freedom, and there are 1,600 ratings.
    """
    from scipy import stats  # takes a second to import, and few audits need it

    table = _pick(cells("table_7_4"), row="Query", conditions="EC1-EC10")
    df, n = 9, 1600
    found = []
    for cell in _p_values(table).itertuples():
        size = _text(table, dependent_variable=cell.dependent_variable, metric="effect_size")
        omega = _omega_squared(stats.f.isf(cell.value, df, n - df - 1), df, n)
        # p = 0.0 is anything below 0.0005 and bounds no effect from above.
        if size == "S" and cell.value > 0 and omega < 0.01:
            found.append(f"{cell.dependent_variable} p {cell.value}, omega squared {omega:.4f}")
    return _listed(found, 'every "S" is at least 0.01')


@_register
def audit_lajewska2025_table_7_5_mode(cells: Cells) -> Finding:
    """L2186: the mode matters for the limitations only; EC1 to EC8 of Table 7.5."""
    p = _p_values(cells("table_7_5"), row="Presentation Mode", conditions="EC1-EC8")
    others = p[(p["dependent_variable"] != "Limitations") & (p["value"] <= _ALPHA)]
    return _listed(_named(others, "dependent_variable"), "the other ratings are not significant")


@_register
def audit_lajewska2025_table_7_5_query(cells: Cells) -> Finding:
    """Table 7.5: the query has p = 1.0 for each explanation rating, as a constant would."""
    p = _p_values(cells("table_7_5"), row="Query")["value"]
    return Finding(bool((p == 1).all()), f"p-values {', '.join(map(str, p))}")


@_register
def audit_lajewska2025_table_7_6_query(cells: Cells) -> Finding:
    """Table 7.6: factors of a worker, by query, have p = 1.0 for ratings given once a worker."""
    p = _p_values(cells("table_7_6"), interaction_with="Query")
    constant = p[p["dependent_variable"].str.startswith("Explanation")]
    by_factor = constant.groupby("row", sort=False)["value"].apply(lambda v: bool((v == 1).all()))
    factors = list(by_factor[by_factor].index)
    return Finding(
        len(factors) > 1, f"all p-values are 1.0 for {len(factors)} factors: {', '.join(factors)}"
    )


@_register
def audit_lajewska2025_figure_7_4_significance(cells: Cells) -> Finding:
    """L2205: all plotted differences are significant; EC1 to EC8 of Tables 7.4 and 7.5.

    Plotted are usefulness by both factors, two explanation ratings by quality and two by mode.
    """
    plotted = {
        "Explanation Quality": ["Usefulness", "Source", "Confidence"],
        "Presentation Mode": ["Usefulness", "Limitations", "Confidence"],
    }
    table = _p_values(_joined(cells, "table_7_4", "table_7_5"), conditions="EC1-EC8")
    p = pd.concat(
        [_pick(table, row=row, dependent_variable=ratings) for row, ratings in plotted.items()]
    )
    return _listed(
        _named(p[p["value"] > _ALPHA], "row", "dependent_variable"), f"no p is above {_ALPHA}"
    )


@_register
def audit_lajewska2025_figure_A_1_experts(
    cells: Cells,
    experts: int = 12,
    queries_each: int = 3,
    excluded: int = 1,
    queries: int = 12,
    scores_each: int = 3,
) -> Finding:
    """L1078, L2507: scores that the experts gave against scores that the queries have."""
    given, counted = (experts - excluded) * queries_each, queries * scores_each
    return Finding(given != counted, f"{given} scores given, {counted} counted")


def _pilot_votes(cells: Cells) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Votes for each response by pilot, variant and dimension (Table C.2)."""
    votes = {}
    for (row, variant), part in cells("table_C_2").groupby(["row", "response_pair_variant"]):
        for dimension in ("Diversity", "Specificity"):
            pair = (int(_text(part, metric=f"{dimension} votes R{n}")) for n in (1, 2))
            votes[(row, variant, dimension)] = (next(pair), next(pair))
    return votes


@_register
def audit_lajewska2025_table_C_2_scale(cells: Cells) -> Finding:
    """Table C.2: an "S" below an omega squared of 0.01, from the printed votes.

    Each vote is one answer; the two responses are compared by a one-way ANOVA of 0 and 1.
    """
    from scipy import stats  # takes a second to import, and few audits need it

    found = []
    for (row, variant, dimension), (first, second) in _pilot_votes(cells).items():
        key = {"row": row, "response_pair_variant": variant}
        size = _text(cells("table_C_2"), metric=f"ANOVA {dimension} effect_size", **key)
        n = first + second
        groups = ([1] * votes + [0] * (n - votes) for votes in (first, second))
        omega = _omega_squared(stats.f_oneway(*groups).statistic, df=1, n=2 * n)
        if size == "S" and omega < 0.01:
            found.append(f"{row} {variant} {dimension}: {first}, {second}, {omega:.4f}")
    return _listed(found, 'every "S" is at least 0.01')


@_register
def audit_lajewska2025_table_C_2_tie(cells: Cells) -> Finding:
    """L2673: rephrasing has its smallest diversity effect in the first pilot; another ties."""
    gaps = {
        row: first - second
        for (row, variant, dimension), (first, second) in _pilot_votes(cells).items()
        if (variant, dimension) == ("Rephr.", "Diversity")
    }
    ties = [row for row, gap in gaps.items() if row != "1" and gap <= gaps["1"]]
    return _listed(
        (f"pilots 1 and {row}: {gaps[row]} votes apart" for row in ties), "pilot 1 alone"
    )


@_register
def audit_lajewska2025_table_C_6_spread(cells: Cells) -> Finding:
    """Tables 6.4 and C.6: cells of rows that both print."""
    return _listed(_spreads(cells), "the rows agree")


def _spreads(cells: Cells) -> Iterator[str]:
    main, appendix = cells("table_6_4"), cells("table_C_6")
    main = main.assign(input=main["input"].str.lower())
    both = main.merge(appendix, on=["row", "input", "metric"], suffixes=("", "_appendix"))
    for cell in both[both["value"] != both["value_appendix"]].itertuples():
        yield f"{cell.row} {cell.input} {cell.metric}: {cell.value}, {cell.value_appendix}"


@_register
def check_lajewska2025_track_differences(cells: Cells) -> Finding:
    """L798: differences of 18, 37, 5 and 7 % between the two systems; Table 3.2."""
    table, faults = cells("table_3_2"), []
    pairs = {
        ("BaselineOrganizers@TREC’21", "WaterlooClarke@TREC’21"): {"NDCG@3": 18, "R@500": 37},
        ("BaselineOrganizers", "WaterlooClarke reproduced by us"): {"NDCG@3": 5, "R@500": 7},
    }
    for (base, other), stated in pairs.items():
        for metric, percent in stated.items():
            ratio = _number(table, row=other, metric=metric) / _number(
                table, row=base, metric=metric
            )
            if round(100 * (ratio - 1)) != percent:
                faults.append(f"{other} {metric}: {100 * (ratio - 1):.1f} %, stated {percent} %")
    return _agrees(faults, "4 differences are as stated")


@_register
def check_lajewska2025_table_3_3_ranges(cells: Cells) -> Finding:
    """L843: other rewriters lose 3 to 7 % of recall, other rankers gain 12 to 29 %; Table 3.3.

    The rankers gain 3 to 12 % of NDCG@3 too. Ranges are of whole percents.
    """
    table, faults = cells("table_3_3"), []
    stated = {
        ("T5_C", "T5_Q", "recall"): (-7, -3),
        (" + BM25 + monoT5", " + ANCE/BM25 + m/dT5", "recall"): (12, 29),
        (" + BM25 + monoT5", " + ANCE/BM25 + m/dT5", "NDCG@3"): (3, 12),
    }
    table["metric"] = table["metric"].replace({"R@500": "recall", "R@1000": "recall"})
    for (old, new, metric), (low, high) in stated.items():
        part = _pick(table, metric=metric)
        for cell in part[part["row"].str.contains(old, regex=False)].itertuples():
            row = cell.row.replace(old, new)
            other = _number(part, row=row, cast_year=cell.cast_year)
            change = 100 * (other / float(cell.value) - 1)
            if not low <= round(change) <= high:
                faults.append(f"{cell.cast_year} {row} {metric}: {change:+.1f} %")
    return _agrees(faults, "14 differences are in the stated ranges")


@_register
def check_lajewska2025_study_counts(cells: Cells) -> Finding:
    """Table 4.7: judgements are queries x conditions x workers of a pair."""
    table, faults = cells("table_4_7"), []
    for study in ("Answerability", "Viewpoints"):
        first = _pick(table, study=study, metric="first_run")
        queries = _number(first, row="#queries per user study")
        conditions = _number(first, row="#experimental cond. (#resp. per query)")
        for run, part in _pick(table, study=study).groupby("metric", sort=False):
            each = _number(part, row="#crowd workers per query-response")
            total = _number(part, row="#query-response pairs annotations")
            if queries * conditions * each != total:
                faults.append(f"{study} {run}: {queries * conditions * each:g}, printed {total:g}")
    return _agrees(faults, "3 counts of judgements are products")


@_register
def check_lajewska2025_correlation_range(cells: Cells) -> Finding:
    """L1145: correlations with overall satisfaction lie between 0.6 and 0.8; Table 4.11."""
    r = cells("table_4_11")["value"].astype(float)
    return Finding(bool(r.between(0.6, 0.8).all()), f"from {r.min()} to {r.max()}")


@_register
def check_lajewska2025_answerability_counts(cells: Cells) -> Finding:
    """Tables 5.5 and B.1: shared counts agree, and rankings are 21 fewer than all 4,560.

    38 test questions with ten passages have 38 x 120 rankings of three (L1545); repeated
    passages take some away, so the print may not exceed that number.
    """
    table = cells("table_5_5")
    sets = _pick(cells("table_B_1"), dataset=["CAsT-snippets", "CAsT-unanswerable"])
    parts = {
        ("passage", "answerable"): ["# ans. QPP"],
        ("passage", "unanswerable"): ["# unans. QPP"],
        ("sentence", "answerable"): ["# sent. w/ answers in ans. QPP"],
        ("sentence", "unanswerable"): [
            "# sent. w/o answers in ans. QPP",
            "# sent. w/o answers in unans. QPP",
        ],
    }
    faults = []
    for (level, kind), rows in parts.items():
        total = _pick(sets, row=rows)["value"].astype(float).sum()
        printed = _number(table, row=f"#question-{level} pairs (train+test)", metric=kind)
        if total != printed:
            faults.append(f"{level} {kind}: {total:g}, printed {printed:g}")
    rankings = _pick(table, row="#question-ranking pairs (test)")["value"].astype(int).sum()
    if rankings > 4560:
        faults.append(f"{rankings} rankings, 4560 possible")
    return _agrees(faults, f"4 counts are sums; {rankings} of 4560 possible rankings")


@_register
def check_lajewska2025_data_set_sums(cells: Cells) -> Finding:
    """Table B.1: answerable and unanswerable questions and pairs sum to their totals."""
    table, faults = cells("table_B_1"), []
    for dataset, part in table.groupby("dataset", sort=False):
        for total in ("questions", "QPP"):
            parts = sum(_number(part, row=f"# {kind} {total}") for kind in ("ans.", "unans."))
            if parts != _number(part, row=f"# {total}"):
                faults.append(f"{dataset} {total}: parts sum to {parts:g}")
    return _agrees(faults, "6 totals are sums")


@_register
def check_lajewska2025_repeated_rows(cells: Cells) -> Finding:
    """Tables 6.1, 6.2 and 6.8 repeat cells of Tables 6.4, 6.5 and 6.7."""
    faults, compared = [], 0
    names = {"Ent": "Entail", "Contr": "Contrad", "Comp": "Compl"}
    for short, full in (("table_6_1", "table_6_4"), ("table_6_2", "table_6_5")):
        theirs = _pick(cells(full), input="Relevant")
        for cell in cells(short).itertuples():
            compared += 1
            value = _text(theirs, row=cell.row, metric=names.get(cell.metric, cell.metric))
            if value != cell.value:
                faults.append(f"{short} {cell.row} {cell.metric}: {cell.value}, {value}")
    best = _text(cells("table_6_8"), clustering="BERTopic", ranking="DuoT5")
    run = _text(cells("table_6_7"), row="GINGER-top20 wo/ rewriting", metric="V_strict avg LLM")
    if best != run:
        faults.append(f"table_6_8: {best}, {run}")
    return _agrees(faults, f"{compared + 1} repeated cells are equal")


@_register
def check_lajewska2025_vote_shares(cells: Cells) -> Finding:
    """Table 6.5: the shares of votes of the two systems sum to 1 in each column."""
    shares = ["Coh", "Con", "Eng", "Fac", "Suf", "Pref"]
    table = _pick(cells("table_6_5"), metric=shares).astype({"value": float})
    sums = table.groupby(["input", "metric"], sort=False)["value"].sum()
    off = sums[(sums - 1).abs() > 1e-9]
    return _agrees(
        (f"{' '.join(name)}: {total:.2f}" for name, total in off.items()),
        f"{len(sums)} pairs of shares sum to 1",
    )


@_register
def check_lajewska2025_judge_means(cells: Cells) -> Finding:
    """Table 6.7: the mean of three judges, within what rounding them allows (0.001)."""
    table = _pick(
        cells("table_6_7"), metric=[f"V_strict {j}" for j in ("GPT4o", "Gemini", "Claude")]
    )
    means = table[table["value"] != "-"].astype({"value": float}).groupby("row")["value"].mean()
    faults = [
        f"{row}: {mean:.4f}, printed {printed}"
        for row, mean in means.items()
        for printed in [_number(cells("table_6_7"), row=str(row), metric="V_strict avg LLM")]
        if abs(mean - printed) > 0.001 + 1e-9
    ]
    return _agrees(faults, f"{len(means)} means follow within rounding")


@_register
def check_lajewska2025_worker_sums(cells: Cells) -> Finding:
    """Table A.1: each question has 96 and 27 answers, the workers of the two studies (L1084)."""
    workers = {"Answerability": 96, "Viewpoint": 27}
    table = cells("table_A_1").astype({"value": int})
    sums = table.groupby(["demographic", "study"], sort=False)["value"].sum()
    return _agrees(
        (f"{' '.join(name)}: {n}" for name, n in sums.items() if n != workers[name[1]]),
        f"{len(sums)} sums are 96 or 27",
    )


@_register
def check_lajewska2025_pilot_votes(cells: Cells) -> Finding:
    """Table C.2: the two responses share 30 votes each time (L2671)."""
    votes = _pilot_votes(cells)
    return _agrees(
        (f"{' '.join(name)}: {sum(pair)}" for name, pair in votes.items() if sum(pair) != 30),
        f"{len(votes)} pairs of votes sum to 30",
    )


# sakai2023

#: Reading budget in words (L = 1,250); R is the sum of discounted gains by (L + 1) / 2 (Eq. 8).
_BUDGET = 1250


def _gain_sums(cells: Cells) -> dict[str, float]:
    """Sum of the printed discounted gains of each system (Table 1)."""
    table = _pick(cells("table_1"), metric="pw_g").astype({"value": float})
    return table.groupby("system", sort=False)["value"].sum().to_dict()


@_register
def audit_sakai2023_table_1_gains(cells: Cells) -> Finding:
    """L882: discounted gains of 1.9456 and 1.1920 for a film that Table 1 has at half of them."""
    stated = {"Bing": 1.9456, "Google": 1.1920}
    table = _pick(cells("table_1"), entity="Back to the Future", metric="pw_g")
    printed = {system: _number(table, system=system) for system in stated}
    return Finding(
        all(stated[system] != value for system, value in printed.items()),
        "; ".join(f"{name}: text {stated[name]:.4f}, table {v:.4f}" for name, v in printed.items()),
    )


@_register
def audit_sakai2023_table_1_share(cells: Cells) -> Finding:
    """L888: Google's R is 9.8 % of Bing's; by the rounded scores, and by the gains."""
    stated = 9.8
    table = _pick(cells("table_1"), metric="R")
    rounded = 100 * _number(table, system="Google") / _number(table, system="Bing")
    sums = _gain_sums(cells)
    exact = 100 * sums["Google"] / sums["Bing"]
    return Finding(
        round(exact, 1) != stated,
        f"{exact:.2f} % by the gains, {rounded:.2f} % by the rounded scores, stated {stated} %",
    )


@_register
def check_sakai2023_relevance_from_gains(cells: Cells) -> Finding:
    """Table 1: R is 2 / (L + 1) times the sum of the discounted gains (Eq. 8)."""
    table, faults = _pick(cells("table_1"), metric="R"), []
    for system, gains in _gain_sums(cells).items():
        exact = 2 * gains / (_BUDGET + 1)
        if f"{exact:.4f}" != _text(table, system=system):
            faults.append(f"{system}: {exact:.5f}, printed {_text(table, system=system)}")
    return _agrees(faults, "2 scores follow from the gains")


@_register
def check_sakai2023_fairness_share(cells: Cells) -> Finding:
    """L947: Google's ORIGIN fairness is about 95.8 % of Bing's; Table 2."""
    stated = 95.8
    table = _pick(cells("table_2"), turn="GF", metric="ORIGIN (JSD)")
    share = 100 * _number(table, system="Google") / _number(table, system="Bing")
    return Finding(round(share, 1) == stated, f"{share:.2f} %, stated {stated} %")


@_register
def check_sakai2023_fairness_means(cells: Cells) -> Finding:
    """Table 2: fairness of a conversation is the mean of its turns (Eq. 10), within rounding."""
    table = cells("table_2").astype({"value": float})
    faults = []
    for (system, metric), part in table.groupby(["system", "metric"], sort=False):
        mean = part.loc[part["turn"] != "GF", "value"].mean()
        printed = _number(part, turn="GF")
        if abs(mean - printed) > 0.0001:
            faults.append(f"{system} {metric}: {mean:.5f}, printed {printed}")
    return _agrees(faults, "4 means follow within 0.0001")


#: All audits by name, the inconsistencies first.
AUDITS: dict[str, Audit] = INCONSISTENCIES | CONSISTENCIES
