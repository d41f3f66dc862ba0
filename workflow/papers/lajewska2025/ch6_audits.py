"""Audits of the published tables of chapter 6 of lajewska2025 (GINGER)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from everycell.verdicts.audits import (
    Cells,
    Finding,
    concatenate_tables,
    holds_if_any,
    holds_if_none,
    published_number,
    published_text,
    rows_where,
)


def audit_lajewska2025_table_6_2_coherence(cells: Cells) -> Finding:
    """§ 6.5.1 calls coherence and conciseness significantly preferred; Table 6.2 marks neither."""
    table = rows_where(cells("table_6_2"), row="GINGER", metric=["Coh", "Con"])
    return holds_if_any(
        (
            f"{cell.metric} {cell.value} has no marker"
            for cell in table[table["marker"] != "*"].itertuples()
        ),
        "both have a marker",
    )


def audit_lajewska2025_table_6_2_follow_up(cells: Cells) -> Finding:
    """§ 8.1.3 calls follow-up questions more useful than the baseline's, against Table 6.2."""
    table = cells("table_6_2")
    base, ours = (published_text(table, row=row, metric="FQ_use") for row in ("Baseline", "GINGER"))
    return Finding(float(ours) <= float(base), f"GINGER {ours}, baseline {base}")


def audit_lajewska2025_table_6_3_completeness(cells: Cells) -> Finding:
    """§ 6.5.3 calls the broad setting standard; Tables 6.1 and 6.3 differ in its completeness."""
    standard = published_text(cells("table_6_1"), row="GINGER", metric="Comp")
    broad = published_text(cells("table_6_3"), row="GINGER broad", metric="Completeness")
    return Finding(standard != broad, f"standard {standard}, broad {broad}")


def audit_lajewska2025_table_6_7_order(cells: Cells) -> Finding:
    """§ 6.4.1 says that the track and three judges rank alike; in Table 6.7 they do not."""
    metrics = ["V_strict TREC", "V_strict avg LLM"]
    table = rows_where(cells("table_6_7"), metric=metrics)
    scores = table.pivot(index="row", columns="metric", values="value").replace("-", None)
    scores = scores.dropna().astype(float)
    faults = []
    for first, second in itertools.combinations(scores.index, 2):
        track, judges = (scores.at[first, m] - scores.at[second, m] for m in metrics)
        if track * judges < 0:
            faults.append(
                f"{first} minus {second}: {track:+.3f} by the track, {judges:+.3f} by the judges"
            )
    return holds_if_any(faults, f"the order of {len(scores)} systems is the same")


def check_lajewska2025_repeated_rows(cells: Cells) -> Finding:
    """Tables 6.1, 6.2 and 6.8 repeat cells of Tables 6.4, 6.5 and 6.7."""
    faults, compared = [], 0
    names = {"Ent": "Entail", "Contr": "Contrad", "Comp": "Compl"}
    for short, full in (("table_6_1", "table_6_4"), ("table_6_2", "table_6_5")):
        full_table = rows_where(cells(full), input="Relevant")
        for cell in cells(short).itertuples():
            compared += 1
            metric = names.get(cell.metric, cell.metric)
            value = published_text(full_table, row=cell.row, metric=metric)
            if value != cell.value:
                faults.append(f"{short} {cell.row} {cell.metric}: {cell.value}, {full} {value}")
    best = published_text(cells("table_6_8"), clustering="BERTopic", ranking="DuoT5")
    run = published_text(
        cells("table_6_7"), row="GINGER-top20 wo/ rewriting", metric="V_strict avg LLM"
    )
    if best != run:
        faults.append(f"table_6_8: {best}, table_6_7 {run}")
    return holds_if_none(faults, f"{compared + 1} repeated cells are equal")


def check_lajewska2025_vote_shares(cells: Cells) -> Finding:
    """Table 6.5: the shares of votes of the two systems sum to 1 in each column."""
    shares = ["Coh", "Con", "Eng", "Fac", "Suf", "Pref"]
    table = rows_where(cells("table_6_5"), metric=shares).astype({"value": float})
    sums = table.groupby(["input", "metric"], sort=False)["value"].sum()
    deviating = sums[(sums - 1).abs() > 1e-9]
    return holds_if_none(
        (f"{' '.join(name)}: {total:.2f}" for name, total in deviating.items()),
        f"{len(sums)} pairs of shares sum to 1",
    )


def check_lajewska2025_judge_means(cells: Cells) -> Finding:
    """Table 6.7: the averages are means of the three judges, within rounding (0.001)."""
    table = rows_where(
        cells("table_6_7"), metric=[f"V_strict {j}" for j in ("GPT4o", "Gemini", "Claude")]
    )
    means = table[table["value"] != "-"].astype({"value": float}).groupby("row")["value"].mean()
    faults = [
        f"{row}: mean {mean:.4f}, published {published}"
        for row, mean in means.items()
        for published in [
            published_number(cells("table_6_7"), row=str(row), metric="V_strict avg LLM")
        ]
        if abs(mean - published) > 0.001 + 1e-9
    ]
    return holds_if_none(faults, f"{len(means)} means agree within rounding")


#: Votes on a comparison if all of its tasks count, and if only the accepted ones do (L1825).
ALL_TASKS, ACCEPTED_TASKS = 220, 153
_SHARES = ["Coh", "Con", "Eng", "Fac", "Suf", "Pref", "Resp. breadth", "Resp. depth"]


def vote_p(count: int, votes: int, *, mirrored: bool = False) -> float:
    """P of a chi-square test of votes against equal shares (scipy is slow to import).

    If mirrored, the test is of the table of both methods' votes received and missed, without Yates'
    correction: it counts each vote twice.
    """
    statistic = (2 * count - votes) ** 2 / votes * (2 if mirrored else 1)
    return math.erfc(math.sqrt(statistic / 2))


def differing_vote_marks(cells: Cells, votes: int, *, mirrored: bool = False) -> Iterator[str]:
    """Shares whose mark fits no number of votes that rounds to the published share."""
    table = rows_where(concatenate_tables(cells, "table_6_5", "table_6_3"), metric=_SHARES)
    for cell in table[table["row"].isin(["GINGER", "GINGER deep"])].itertuples():
        p_values = [
            vote_p(count, votes, mirrored=mirrored)
            for count in range(votes + 1)
            if f"{count / votes:.2f}" == cell.value
        ]
        if all((p < 0.05) != (cell.marker == "*") for p in p_values):
            comparison = cell.input if isinstance(cell.input, str) else cell.row
            p_range = " to ".join(f"{p:.3f}" for p in sorted({min(p_values), max(p_values)}))
            yield f"{comparison} {cell.metric} {cell.value}{cell.marker}: p = {p_range}"


def check_lajewska2025_vote_marks(cells: Cells) -> Finding:
    """Tables 6.3 and 6.5: marks follow from shares of 220 votes, by a chi-square test."""
    with_accepted = (
        f"{ACCEPTED_TASKS} votes{' counted twice' if mirrored else ''}: "
        + ("; ".join(differing_vote_marks(cells, ACCEPTED_TASKS, mirrored=mirrored)) or "all fit")
        for mirrored in (False, True)
    )
    return holds_if_none(
        differing_vote_marks(cells, ALL_TASKS),
        f"{ALL_TASKS} votes: all fit. {'. '.join(with_accepted)}",
    )
