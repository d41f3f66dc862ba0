"""Audits of the published tables of chapter 5 of abolghasemi2026 (attribution bias)."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from everycell.verdicts.audits import (
    Cells,
    Finding,
    concatenate_tables,
    holds_if_any,
    holds_if_none,
    is_multiple,
    published_number,
    published_text,
    rows_where,
)
from papers.abolghasemi2026.ch5_published import (
    sensitivity_significance,
    significance,
)

_BLOCK = ["dataset", "generator", "relevant_author", "nonrelevant_author"]
_QUALITY = ["attribution precision", "attribution recall"]
#: Number of queries of each benchmark (§ 5.4).
_QUERIES = 500


def audit_abolghasemi2026_daggers(cells: Cells) -> Finding:
    """Tables 5.1 and 5.11: daggers on values below that of another mode."""
    faults = []
    for _, block in concatenate_tables(cells, "table_5_1", "table_5_11").groupby(
        [*_BLOCK, "metric"], sort=False
    ):
        best = block["value"].astype(float).max()
        for cell in block[block["marker"] == "†"].itertuples():
            if float(cell.value) < best:
                label = f"{cell.dataset} {cell.generator} {cell.rag_mode} {cell.metric}"
                faults.append(f"{label}: {cell.value} below {best:g}")
    return holds_if_any(faults, "every dagger marks the highest value of its block")


def audit_abolghasemi2026_gpt4_rows_missing(cells: Cells) -> Finding:
    """Table 5.14 lacks a model that Table 5.15 includes."""
    nq, marco = (set(cells(name)["generator"]) for name in ("table_5_14", "table_5_15"))
    return holds_if_any(sorted(f"{model} is missing" for model in marco - nq), "the models agree")


def _answers(cells: Cells) -> pd.DataFrame:
    """All shares of correct answers in chapter 5, with their tables."""
    names = ("table_5_1", "table_5_4", "table_5_11", "table_5_14", "table_5_15")
    parts = [cells(name).assign(table=name) for name in names]
    return rows_where(pd.concat(parts, ignore_index=True), metric="EM correctness")


def audit_abolghasemi2026_em_no_multiple(cells: Cells) -> Finding:
    """Shares of correct answers that are not multiples of 1/500 (§ 5.4: 500 queries)."""
    answers = _answers(cells)
    deviating = answers[~answers["value"].map(lambda value: is_multiple(float(value), 1 / 500))]
    return holds_if_any(
        (
            f"{cell.table} {cell.generator} {cell.relevant_author} "
            f"{cell.mode_relevant}/{cell.mode_nonrelevant}: {cell.value}"
            for cell in deviating.itertuples()
        ),
        f"all {len(answers)} shares are multiples of 1/500",
    )


def audit_abolghasemi2026_em_outlier(cells: Cells) -> Finding:
    """Tables 5.14 and 5.15: outliers among shares of correct answers in one mode.

    Elsewhere, modes that are the same for all documents differ by at most 0.022; 0.05 is 25
    queries.
    """
    faults = []
    table = rows_where(
        concatenate_tables(cells, "table_5_14", "table_5_15"), metric="EM correctness"
    )
    same_mode = table[table["mode_relevant"] == table["mode_nonrelevant"]]
    for (dataset, model, author, _), block in same_mode.groupby(_BLOCK, sort=False):
        values = block["value"].astype(float)
        if values.max() - values.min() > 0.05:
            faults.append(f"{dataset} {model} {author}: {', '.join(block['value'])}")
    return holds_if_any(faults, "shares of a block lie within 0.05")


def check_abolghasemi2026_recall_steps(cells: Cells) -> Finding:
    """Recalls of chapter 5 and their differences are multiples of 0.2 % (500 queries, § 5.4)."""
    names = [f"table_5_{n}" for n in (1, 2, 3, 4, 5, 7, 8, 9, 11, 14, 15)]
    table = concatenate_tables(cells, *names)
    recalls = table.loc[table["metric"].str.endswith("recall"), "value"]
    deviating = [value for value in recalls if not is_multiple(float(value), 0.2)]
    return holds_if_none(deviating, f"{len(recalls)} values are multiples of 0.2 %")


def check_abolghasemi2026_precision_below_recall(cells: Cells) -> Finding:
    """With one relevant document per query, precision cannot exceed recall."""
    faults, compared = [], 0
    for name in ("table_5_1", "table_5_4", "table_5_11", "table_5_14", "table_5_15"):
        table = cells(name)
        precision, recall = (
            rows_where(table, metric=metric)["value"].astype(float).to_list() for metric in _QUALITY
        )
        pairs = list(zip(precision, recall, strict=True))
        compared += len(pairs)
        faults += [f"{name}: {p:g} above {r:g}" for p, r in pairs if p > r]
    return holds_if_none(faults, f"{compared} precisions are not above their recall")


def _signed_and_absolute(cells: Cells) -> pd.DataFrame:
    """Table 5.2, with the signed difference Informed - Vanilla of Tables 5.1 and 5.11."""
    quality = concatenate_tables(cells, "table_5_1", "table_5_11")
    table = cells("table_5_2")
    signed = []
    for _, cell in table.iterrows():
        key = {name: cell[name] for name in _BLOCK}
        key["metric"] = cell["metric"].replace("CAS delta", "attribution")
        informed, plain = (
            published_number(quality, rag_mode=mode, **key) for mode in ("Informed", "Vanilla")
        )
        signed.append(round(informed - plain, 1))
    return table.assign(signed=signed, value=table["value"].astype(float))


def check_abolghasemi2026_sensitivity_parity(cells: Cells) -> Finding:
    """Table 5.2: mean absolute and mean signed differences of recall are compatible (Eq. 5.1).

    A recall is 0 or 1, so the two sums over 500 queries are both even or both odd, and the
    absolute one is not below the signed one. Twelve cells have matching parity by chance with
    probability 1/4,096.
    """
    table = _signed_and_absolute(cells)
    recalls = table[table["metric"] == "CAS delta recall"]
    faults = [
        f"{row.dataset} {row.generator} {row.relevant_author}: {row.value}, {row.signed}"
        for row in recalls.itertuples()
        if (round(5 * row.value) - round(5 * row.signed)) % 2 or row.value < abs(row.signed)
    ]
    return holds_if_none(faults, f"{len(recalls)} pairs fit")


def check_abolghasemi2026_sensitivity_daggers(cells: Cells) -> Finding:
    """Table 5.2: daggers mark exactly the signed differences of 2.7 points or more."""
    table = _signed_and_absolute(cells)
    marked = table["signed"].abs()[table["marker"] == "†"]
    plain = table["signed"].abs()[table["marker"] != "†"]
    return Finding(
        marked.min() > plain.max(), f"marked from {marked.min()}, unmarked up to {plain.max()}"
    )


def check_abolghasemi2026_sensitivity_tests(cells: Cells) -> Finding:
    """Table 5.2: the daggers agree with a paired t-test of Informed - Vanilla (§ 5.5).

    A recall is 0 or 1, so the mean absolute difference gives the number of changed recalls, which
    determines the test. For precision it bounds the sum of squares, which determines most tests.
    """
    tests = _sensitivity_tests(cells)
    determined = tests[tests["significant"] != "open"]
    wrong = determined[(determined["marker"] == "†") != (determined["significant"] == "yes")]
    return holds_if_none(
        (
            f"{_row_name(row)}: {row['significant']}, {row['marker']!r}"
            for _, row in wrong.iterrows()
        ),
        f"{len(determined)} of {len(tests)} tests are determined, and their daggers are right",
    )


def _sensitivity_tests(cells: Cells) -> pd.DataFrame:
    """Tests behind Table 5.2, with its markers."""
    quality, published = concatenate_tables(cells, "table_5_1", "table_5_11"), cells("table_5_2")
    return sensitivity_significance(quality, published, _QUERIES).assign(
        marker=published["marker"].to_numpy()
    )


def _row_name(row: pd.Series) -> str:
    return f"{row['dataset']} {row['generator']} {row['relevant_author']} {row['metric']}"


def audit_abolghasemi2026_dagger_pairs(cells: Cells) -> Finding:
    """Tables 5.1 and 5.11: daggers that are missing in Table 5.2.

    Both report a paired t-test of the same answers (§ 5.5), if Table 5.2 tests signed differences.
    `audit_abolghasemi2026_daggers` covers values below Vanilla's.
    """
    unmarked = _sensitivity_tests(cells).query("marker != '†' and first > second")
    marked = concatenate_tables(cells, "table_5_1", "table_5_11").query(
        "marker == '†' and rag_mode == 'Informed'"
    )
    marked = marked.assign(metric=marked["metric"].str.replace("attribution", "CAS delta"))
    both = unmarked.merge(marked[[*_BLOCK, "metric"]], on=[*_BLOCK, "metric"])
    return holds_if_any(
        (f"{_row_name(row)}: {row['first']}† and {row['second']}" for _, row in both.iterrows()),
        "every dagger at Informed is in Table 5.2 too",
    )


def audit_abolghasemi2026_dagger_few_changes(cells: Cells) -> Finding:
    """Tables 5.1 and 5.11: a dagger that is possible only if answers hardly changed.

    Where CF-informed is marked as better than Vanilla, the test limits the number of changed
    recalls. A limit below a quarter of the changes under Informed (Table 5.2) is implausible,
    because both modes show the same two labels.
    """
    recall = rows_where(
        concatenate_tables(cells, "table_5_1", "table_5_11"), metric="attribution recall"
    )
    modes = recall.pivot(index=_BLOCK, columns="rag_mode", values="value").astype(float)
    marked = recall.query("marker == '†' and rag_mode == 'CF-informed'")
    changed = rows_where(cells("table_5_2"), metric="CAS delta recall").set_index(_BLOCK)["value"]
    faults = []
    for block in marked[_BLOCK].itertuples(index=False, name=None):
        first, second = modes.loc[block, "CF-informed"], modes.loc[block, "Vanilla"]
        allowed = significance(first, second, _QUERIES, metric="recall").allowed
        informed = float(changed[block]) / 100 * _QUERIES
        if allowed < informed / 4 and first > second:
            faults.append(
                f"{' '.join(block[:3])}: {first}† and {second}, at most {allowed:.0f} of "
                f"{_QUERIES} may change, but Informed changes {informed:.0f}"
            )
    return holds_if_any(faults, "every dagger is plausible")


def audit_abolghasemi2026_effect_of_adding(cells: Cells) -> Finding:
    """§ 5, § 5.6: naming authors changes quality by 3 to 18 points; marked cells of Table 5.2.

    The effect of naming authors is Informed - Vanilla. The stated range is instead that of the
    bias, which compares two labellings (Tables 5.3 and 5.5).
    """
    text = cells("text_5")
    stated = [
        published_text(text, claim=f"authorship information changes attribution quality by ({end})")
        for end in ("low", "high")
    ]
    tests = rows_where(_sensitivity_tests(cells), marker="†")
    sizes = (tests["first"] - tests["second"]).abs()
    measured = [f"{sizes.min():.0f}", f"{sizes.max():.0f}"]
    return Finding(
        measured != stated,
        f"from {sizes.min():.1f} to {sizes.max():.1f}, stated {' to '.join(stated)}",
    )


def check_abolghasemi2026_cited_equals_recall(cells: Cells) -> Finding:
    """Tables 5.12 and 5.13: cited relevant documents equal recall in 5.1 and 5.11."""
    recalls = rows_where(
        concatenate_tables(cells, "table_5_1", "table_5_11"), metric="attribution recall"
    )
    cited = rows_where(
        concatenate_tables(cells, "table_5_12", "table_5_13"), metric="avg cited relevant"
    )
    both = cited.merge(recalls, on=[*_BLOCK, "rag_mode"], suffixes=("", "_recall"))
    off = (both["value"].astype(float) - both["value_recall"].astype(float) / 100).abs() > 1e-9
    faults = [f"{' '.join(row[_BLOCK])} {row['rag_mode']}" for _, row in both[off].iterrows()]
    return holds_if_none(faults, f"{len(both)} means equal recall / 100")


def check_abolghasemi2026_mixed_rows(cells: Cells) -> Finding:
    """Rows of Table 5.4 equal those of Table 5.14, for the models in Table 5.14."""
    key = [*_BLOCK, "mode_relevant", "mode_nonrelevant", "metric"]
    both = cells("table_5_4").merge(cells("table_5_14"), on=key, suffixes=("", "_full"))
    off = both[both["value"].astype(float) != both["value_full"].astype(float)]
    return holds_if_none(
        (f"{' '.join(row[key])}: {row['value']}, {row['value_full']}" for _, row in off.iterrows()),
        f"{len(both)} cells are equal",
    )


def _bias_faults(
    bias: pd.DataFrame, quality: pd.DataFrame, modes: Callable[[pd.Series], dict[str, dict]]
) -> tuple[list[str], int]:
    """Bias cells that deviate from quality by over 0.1, and number of compared cells."""
    faults, compared = [], 0
    for _, cell in bias.iterrows():
        metric = cell["metric"].replace("CAB delta", "attribution")
        key = {name: cell[name] for name in _BLOCK} | {"metric": metric}
        pair = [rows_where(quality, **key, **mode)["value"] for mode in modes(cell).values()]
        if any(part.empty for part in pair):
            continue
        compared += 1
        human, machine = (float(part.iloc[0]) for part in pair)
        if abs(human - machine - float(cell["value"])) > 0.1 + 1e-9:
            faults.append(f"{' '.join(key.values())}: {human - machine:.1f}, {cell['value']}")
    return faults, compared


def check_abolghasemi2026_bias_from_quality(cells: Cells) -> Finding:
    """Table 5.3 is the signed difference of Tables 5.1 and 5.11 (Eq. 5.2), within 0.1.

    Both are rounded to 0.1, so a difference of rounded values may be off by 0.1.
    """

    def modes(cell: pd.Series) -> dict[str, dict]:
        labels = ["Informed", "CF-informed"]
        human, machine = labels if cell["relevant_author"] == "Human" else labels[::-1]
        return {"human": {"rag_mode": human}, "machine": {"rag_mode": machine}}

    faults, compared = _bias_faults(
        cells("table_5_3"), concatenate_tables(cells, "table_5_1", "table_5_11"), modes
    )
    return holds_if_none(faults, f"{compared} biases agree with the quality tables within 0.1")


def check_abolghasemi2026_mixed_bias_from_quality(cells: Cells) -> Finding:
    """Table 5.5 is the signed difference of Tables 5.4, 5.14 and 5.15 (Eq. 5.5), within 0.1."""

    def modes(cell: pd.Series) -> dict[str, dict]:
        labels = ["Informed", "CF-informed"]
        human, machine = labels if cell["relevant_author"] == "Human" else labels[::-1]
        return {
            "human": {"mode_relevant": human, "mode_nonrelevant": machine},
            "machine": {"mode_relevant": machine, "mode_nonrelevant": human},
        }

    quality = concatenate_tables(cells, "table_5_4", "table_5_14", "table_5_15")
    faults, compared = _bias_faults(cells("table_5_5"), quality, modes)
    return holds_if_none(faults, f"{compared} biases agree with the quality tables within 0.1")


def check_abolghasemi2026_effect_range(cells: Cells) -> Finding:
    """§ 5: effects of 3 to 18 points; smallest and largest bias of Tables 5.3 and 5.5."""
    text = cells("text_5")
    stated = [
        published_number(
            text, claim=f"authorship information changes attribution quality by ({end})"
        )
        for end in ("low", "high")
    ]
    sizes = concatenate_tables(cells, "table_5_3", "table_5_5")["value"].astype(float).abs()
    measured = [round(sizes.min()), round(sizes.max())]
    return Finding(measured == stated, f"from {sizes.min()} to {sizes.max()}, stated {stated}")
