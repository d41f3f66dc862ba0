"""The human step: blind sheets, their checks, settled labels and what follows from them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from everycell.cli import app
from everycell.collections.planted_dialogues import plant_dialogues
from everycell.collections.satisfaction_samples import Sample, samples_frame
from everycell.dialogue.annotated import agreement, confirmed, success
from everycell.dialogue.annotation import (
    FORM,
    count_unblinded,
    draw_real,
    make_items,
    read_items,
    read_labels,
    read_sheet,
    write_sheets,
    write_third,
)
from everycell.dialogue.annotation_inputs import read_dialogues, read_rewritings
from everycell.dialogue.counterfactual_rules import rewrite_by_rule
from everycell.dialogue.counterfactuals import Rewriting, rewritings_frame
from everycell.text.settled_sheets import disagreements
from everycell.text.sheets import KEY, SheetError, sheet_path

PLANTED = plant_dialogues(8, dissatisfied=0.3, seed=5).samples
MADE = [rewrite_by_rule(sample, seed=1) for sample in PLANTED[:6]]
MADE.append(Rewriting(PLANTED[6], "", "empty", ""))
REAL = list(PLANTED[10:15])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sheets"
    write_sheets(folder, make_items(MADE, REAL, seed=3), seed=3)
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(
    path: Path, answer: Callable[[dict[str, str]], tuple[int, int]], separator: str = ","
) -> None:
    """Answer a sheet and save it as a spreadsheet does."""
    rows = rows_of(path)
    for row in rows:
        row["satisfied"], row["coherent"] = map(str, answer(row))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, FORM.columns, delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


def change(path: Path, edit: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> None:
    rows = edit(rows_of(path))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, FORM.columns)
        writer.writeheader()
        writer.writerows(rows)


def yes(row: dict[str, str]) -> tuple[int, int]:
    return 1, 1


def test_sheets_are_blind_and_in_another_order_for_each_annotator(folder: Path) -> None:
    first, second = (rows_of(sheet_path(folder, number)) for number in (1, 2))
    assert [row["item"] for row in first] != [row["item"] for row in second]
    assert sorted(row["item"] for row in first) == sorted(row["item"] for row in second)
    shown = (folder / "annotator-1.csv").read_bytes()
    assert b"-cf" not in shown and b"planted" not in shown
    made = {item.name for item in read_items(folder) if item.counterfactual}
    # Neither all counterfactuals first nor all last.
    kinds = [row["item"] in made for row in sorted(first, key=lambda row: row["item"])]
    assert kinds != sorted(kinds) and kinds != sorted(kinds, reverse=True)
    assert len(first) == 11 and len(read_items(folder)) == 12


def test_sheets_open_well_in_a_spreadsheet(folder: Path) -> None:
    content = sheet_path(folder, 1).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf" + b"item,dialogue,satisfied,coherent,comment\r\n")
    # A cell that starts so would be run as a formula.
    for row in rows_of(sheet_path(folder, 1)):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())


def test_the_same_seed_gives_the_same_sheets_whatever_the_order_of_the_input(
    tmp_path: Path,
) -> None:
    for name, made, real in (("a", MADE, REAL), ("b", MADE[::-1], REAL[::-1])):
        write_sheets(tmp_path / name, make_items(made, real, seed=9), seed=9)
    for file in ("annotator-1.csv", "annotator-2.csv", KEY):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_sheets_that_may_be_filled_in_are_not_overwritten(folder: Path) -> None:
    items = make_items(MADE, REAL, seed=3)
    with pytest.raises(SheetError, match="has sheets already"):
        write_sheets(folder, items, seed=3)
    # A run that was stopped before the key leaves sheets as they are written; others have answers.
    (folder / KEY).unlink()
    write_sheets(folder, items, seed=3)
    (folder / KEY).unlink()
    fill(sheet_path(folder, 2), yes)
    filled = sheet_path(folder, 2).read_bytes()
    with pytest.raises(SheetError, match="has sheets already"):
        write_sheets(folder, items, seed=3)
    assert sheet_path(folder, 2).read_bytes() == filled


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_filled_sheet_is_read_whatever_its_separator_and_order(
    folder: Path, separator: str
) -> None:
    path = sheet_path(folder, 1)
    fill(path, lambda row: (int(row["item"][-1]) % 2, 1), separator)
    shown = [item for item in read_items(folder) if not item.fault]
    answers = read_sheet(path, shown)
    assert answers["satisfied"].tolist() == [int(item.name[-1]) % 2 for item in shown]
    text = path.read_text(encoding="utf-8-sig")
    # An empty row at the end, and other line ends in cells, as spreadsheets leave them.
    path.write_text(text.replace("\nSYSTEM", "\r\nSYSTEM") + separator * 4 + "\n", "utf-8")
    assert read_sheet(path, shown).equals(answers)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_sheet_is_read_with_any_line_ends_with_and_without_a_mark(
    folder: Path, end: str, mark: str
) -> None:
    """LibreOffice quotes every text, ends lines with a line feed, and writes no mark."""
    path, shown = sheet_path(folder, 1), [item for item in read_items(folder) if not item.fault]
    fill(path, yes)
    answers = read_sheet(path, shown)
    text = io.StringIO()
    writer = csv.DictWriter(text, FORM.columns, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows_of(path))
    path.write_bytes((mark + text.getvalue().replace("\n", end)).encode())
    assert read_sheet(path, shown).equals(answers)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            lambda rows: [rows[0] | {"item": "d0099"}, *rows[1:]],
            r"row 2: has the item 'd0099', which is not among this sheet's 11",
        ),
        (lambda rows: rows[:-2], r"lacks 2 of 11 items \(d0"),
        (lambda rows: [*rows, rows[0]], r"row 13: has the item d\d+, as row 2 has; keep one"),
        (
            lambda rows: [rows[0], rows[1] | {"dialogue": rows[1]["dialogue"] + " too"}, *rows[2:]],
            r"row 3: the dialogue of item d\d+ was changed",
        ),
        (
            lambda rows: [rows[0] | {"satisfied": "2"}, *rows[1:]],
            r"row 2: `satisfied` of item d\d+ is '2'; allowed is 0 \(no\) or 1 \(yes\)",
        ),
        (
            lambda rows: [rows[0] | {"coherent": " "}, *rows[1:]],
            r"row 2: `coherent` of item d\d+ is empty; allowed is 0",
        ),
    ],
)
def test_a_sheet_that_was_damaged_is_refused(folder: Path, edit: Callable, said: str) -> None:
    path = sheet_path(folder, 1)
    fill(path, yes)
    change(path, edit)
    with pytest.raises(SheetError, match=said):
        read_sheet(path, [item for item in read_items(folder) if not item.fault])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"item,dialogue,coherent\nd0001,x,1\n", "lacks the column 'satisfied'"),
        (b"", "lacks the column 'item'"),
        (b"item,dialogue,satisfied,coherent\nd0001,caf\xe9,1,1\n", "is not UTF-8 text"),
        (b'item,dialogue,satisfied,coherent\n"d0001"x,y,1,1\n', "is not CSV"),
        (b"item;dialogue;satisfied;coherent;satisfied\n", "has the column 'satisfied' twice"),
        ("item\tdialogue\tsatisfied\tcoherent\n".encode("utf-16"), "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(folder: Path, content: bytes, said: str) -> None:
    path = sheet_path(folder, 1)
    path.write_bytes(content)
    with pytest.raises(SheetError, match=said):
        read_sheet(path, read_items(folder))


def test_a_missing_sheet_and_an_edited_key_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SheetError, match="There is no sheet .*annotator-9.csv"):
        read_sheet(sheet_path(folder, 9), read_items(folder))
    with pytest.raises(SheetError, match="has no key.jsonl; name the folder"):
        read_items(tmp_path)
    key = folder / KEY
    lines = key.read_text().splitlines()
    key.write_text("\n".join([lines[0], lines[1][:-20]]))
    with pytest.raises(SheetError, match="line 2: is not an item"):
        read_items(folder)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"satisfied": 2}, "line 1: is not an item; the key must stay as it was"),
        ({"turns": [["USER", "a"]]}, "line 1: is not an item"),
        ({"counterfactual": "yes"}, "line 1: is not an item"),
        ({"fault": None}, "line 1: is not an item"),
        ({"item": "d0002"}, "line 2: has the item d0002 again"),
    ],
)
def test_an_edited_key_is_refused(folder: Path, edit: dict, said: str) -> None:
    key = folder / KEY
    first, *rest = key.read_text().splitlines()
    key.write_text("\n".join([json.dumps(json.loads(first) | edit), *rest]))
    with pytest.raises(SheetError, match=said):
        read_items(folder)
    done = CliRunner().invoke(app, ["annotation", "import", str(folder)])
    assert done.exit_code == 1 and "key.jsonl, line" in done.output


def test_a_key_without_items_or_without_text_is_refused(folder: Path) -> None:
    (folder / KEY).write_text("\n")
    with pytest.raises(SheetError, match="has no item"):
        read_items(folder)
    (folder / KEY).write_bytes(b"\xff")
    with pytest.raises(SheetError, match="cannot be read .*restore it"):
        read_items(folder)


def test_the_third_annotator_sees_what_the_others_disagree_on_and_decides_it(
    folder: Path,
) -> None:
    for number in (1, 2):
        fill(sheet_path(folder, number), yes)
    assert write_third(folder) is None
    unhappy, unfit = sorted(row["item"] for row in rows_of(sheet_path(folder, 1)))[3:5]
    fill(
        sheet_path(folder, 2),
        lambda row: (int(row["item"] != unhappy), int(row["item"] != unfit)),
    )
    with pytest.raises(SheetError, match="disagree on 2 items and there is no"):
        read_labels(folder)
    third = write_third(folder)
    assert third is not None
    assert sorted(row["item"] for row in rows_of(third)) == [unhappy, unfit]
    with pytest.raises(SheetError, match="is there already"):
        write_third(folder)
    fill(third, lambda row: (0, 0))
    labels = read_labels(folder).set_index("item")
    # The third alone decides nothing: where the first two agree, they stand.
    assert labels.loc[unhappy, ["satisfied", "coherent"]].tolist() == [0, 1]
    assert labels.loc[unfit, ["satisfied", "coherent"]].tolist() == [1, 0]
    rest = labels[(labels["fault"] == "") & ~labels.index.isin([unhappy, unfit])]
    assert (rest["satisfied"] == 1).all() and (rest["coherent"] == 1).all()


def test_success_counts_what_was_generated_and_confirmed_keeps_what_flipped(
    folder: Path,
) -> None:
    for number in (1, 2):
        fill(sheet_path(folder, number), yes)
    items, labels = read_items(folder), read_labels(folder)
    # Everyone is satisfied: just the rewritings of dissatisfied dialogues are flips.
    wanted = [made.sample for made in MADE if not made.sample.satisfied and not made.fault]
    assert {sample.id for sample in confirmed(items, labels)} == {f"{s.id}-cf" for s in wanted}
    assert all(sample.satisfied for sample in confirmed(items, labels))
    found = success(labels).set_index("row")
    assert found.loc["Overall", ["generated", "usable", "flipped"]].tolist() == [7, 6, len(wanted)]
    assert found.loc["Satisfaction", "CSS"] == 0
    lost = sum(made.fault != "" and not made.sample.satisfied for made in MADE)
    assert found.loc["Dissatisfaction", "CSS"] == 100 * len(wanted) / (len(wanted) + lost)


def test_success_of_the_counts_behind_table_3_4() -> None:
    """MultiWOZ: 524 of 811 and 19 of 40 flipped give the printed 64.6, 47.5 and 63.8."""
    labels = pd.DataFrame(
        {
            "benchmark": "MultiWOZ",
            "counterfactual": True,
            "fault": "",
            "intended": [0] * 811 + [1] * 40,
            "satisfied": [0] * 524 + [1] * 287 + [1] * 19 + [0] * 21,
        }
    )
    assert success(labels)["CSS"].round(1).tolist() == [64.6, 47.5, 63.8]


@given(
    pairs=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=30),
)
@settings(max_examples=50, deadline=None)
def test_agreement_is_that_of_scikit_learn_and_symmetric(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    one, other = zip(*pairs, strict=True)
    labels = pd.DataFrame(
        {
            "benchmark": "toy",
            "counterfactual": True,
            "fault": "",
            "intended": one,
            "satisfied": one,
            "satisfied_1": one,
            "satisfied_2": other,
            "coherent": one,
            "coherent_1": other,
            "coherent_2": one,
        }
    )
    found = agreement(labels)
    assert found["percent agreement"].tolist() == pytest.approx(
        [100 * accuracy_score(one, other)] * 2
    )
    if len(set(one) | set(other)) == 2:
        assert found["Cohen kappa"].tolist() == pytest.approx([cohen_kappa_score(one, other)] * 2)
    assert found["as intended"][0] == 100


def test_disagreement_in_either_question_counts() -> None:
    first = pd.DataFrame({"satisfied": [1, 0, 1], "coherent": [1, 1, 0]}, index=["a", "b", "c"])
    second = first.loc[["c", "b", "a"]].copy()
    assert disagreements(first, second) == []
    second.loc["b", "coherent"] = 0
    assert disagreements(first, second) == ["b"]


def test_items_that_cannot_be_a_pool_are_refused() -> None:
    with pytest.raises(SheetError, match="None of the 1 counterfactuals can be shown"):
        make_items([MADE[-1]], REAL, seed=1)
    with pytest.raises(SheetError, match="occurs 2 times"):
        make_items([*MADE, MADE[0]], REAL, seed=1)


def test_real_dialogues_are_not_the_originals_while_there_are_others() -> None:
    drawn = draw_real(PLANTED[:9], MADE, number=2, seed=1)
    assert {sample.id for sample in drawn} <= {sample.id for sample in PLANTED[7:9]}
    assert len(draw_real(PLANTED[:9], MADE, number=5, seed=1)) == 5
    assert draw_real([], MADE, number=5, seed=1) == []


def test_one_part_of_a_file_is_read(tmp_path) -> None:
    """The workflow's samples have the same dialogue in several parts."""
    rows = [{**ROW, "part": "main"}, {**ROW, "part": "plain"}, {**ROW, "id": "1-cf", "part": "cf"}]
    path = lines_of(tmp_path / "samples.jsonl", *rows)
    assert [sample.id for sample in read_dialogues(path, part="main")] == ["1"]
    with pytest.raises(SheetError, match="line 2: has the id '1' of toy"):
        read_dialogues(path)
    with pytest.raises(SheetError, match="no row has the `part` 'test'; found are 'cf, main, pl"):
        read_dialogues(path, part="test")


def test_what_goes_on_from_an_original_or_leads_to_it_stands_last() -> None:
    turns = (("SYSTEM", "a"), ("USER", "b"), ("SYSTEM", "c"), ("USER", "d"), ("SYSTEM", "e"))
    earlier, same, later = (
        Sample(str(length), "toy", turns[:length], True) for length in (1, 3, 5)
    )
    made = [Rewriting(same, "no", "", "")]
    other = Sample("other", "toy", (("SYSTEM", "z"),), True)
    for number in (1, 2):
        drawn = draw_real([earlier, later, same, other], made, number=number, seed=number)
        assert drawn[0] == other and len(drawn) == number
    assert count_unblinded(made, make_items(made, [other, earlier], seed=1)) == 0
    assert count_unblinded(made, make_items(made, [other, later], seed=1)) == 1


def test_real_dialogues_are_real_and_of_the_same_benchmark() -> None:
    """Dialogues of the workflow have released counterfactuals and another benchmark among them."""
    fake = [replace(sample, id=f"{sample.id}-cf") for sample in PLANTED[8:12]]
    other = [replace(sample, benchmark="other") for sample in PLANTED[12:16]]
    drawn = draw_real([*fake, *other, *PLANTED[16:18]], MADE, number=9, seed=1)
    assert sorted(drawn, key=lambda sample: sample.id) == list(PLANTED[16:18])
    with pytest.raises(SheetError, match="None of the 8 real dialogues is of planted"):
        draw_real([*fake, *other], MADE, number=9, seed=1)


ROW = {"id": "1", "benchmark": "toy", "turns": [["USER", "hi"], ["SYSTEM", "x"]], "satisfied": 1}


def lines_of(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"satisfied": 2}, "`satisfied` is 2; allowed is true or false"),
        ({"satisfied": "1"}, "`satisfied` is '1'"),
        ({"satisfied": None}, "`satisfied` is None"),
        ({"satisfied": [1]}, r"`satisfied` is \[1\]"),
        ({"turns": None}, "`turns` is None; allowed is a list of pairs"),
        ({"turns": [5]}, r"`turns` is \[5\]"),
        ({"turns": [["SYSTEM"]]}, "`turns` is"),
        ({"turns": [["USER", "hi"]]}, "does not end with an utterance of the system"),
        ({"turns": []}, "does not end with an utterance of the system"),
        ({"turns": [["BOT", "hi"]]}, "has the speaker 'BOT'"),
        ({"id": None}, "`id` is None; allowed is a name"),
        ({"id": 1.5}, "`id` is 1.5"),
        ({"benchmark": " "}, "`benchmark` is ' '; allowed is a name"),
        ({"text": 5}, "`text` is 5; allowed is the new utterance"),
        ({"text": None}, "`text` is None"),
        ({"fault": "odd"}, "`fault` is 'odd'; allowed is none, or one of empty, refusal, "),
        ({"id": "0"}, "has the id '0' of toy, as line 1 has; allowed is each id once"),
    ],
)
def test_a_row_that_is_no_rewriting_is_named(tmp_path: Path, row: dict, said: str) -> None:
    first = ROW | {"id": "0", "text": "y"}
    path = lines_of(tmp_path / "mine.jsonl", first, ROW | {"text": "y"} | row)
    with pytest.raises(SheetError, match=f"mine.jsonl, line 2: .*{said}") as caught:
        read_rewritings(path)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty; name a file that has dialogues"),
        (json.dumps(ROW).encode()[:30], "line 1: is not JSON .*or was cut off"),
        (b"[1]", r"line 1: is \[1\]; allowed is a JSON object"),
        (
            b'{"id": "1", "benchmark": "b", "turns": []}',
            "line 1: lacks `satisfied`; each row needs",
        ),
        (b'{"id": "caf\xe9"}', "is not UTF-8 text"),
    ],
)
def test_a_file_without_dialogues_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(content)
    with pytest.raises(SheetError, match=said):
        read_dialogues(path)


def test_a_file_that_is_not_there_or_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SheetError, match="There is no file .*none.parquet"):
        read_dialogues(tmp_path / "none.parquet")
    (tmp_path / "sheet.csv").write_text("id\n1\n")
    with pytest.raises(SheetError, match="sheet.csv: is neither Parquet nor"):
        read_dialogues(tmp_path / "sheet.csv")
    with pytest.raises(SheetError, match="is neither Parquet nor"):
        read_dialogues(tmp_path)


def test_rewritings_of_others_are_read_and_none_is_lost(tmp_path: Path) -> None:
    rows = [
        ROW | {"text": "No.\nUSER: Fine.\u2028SYSTEM: \x85Good."},
        ROW | {"id": 2, "text": " \n"},
        ROW | {"id": "3", "text": "Sure.", "fault": "refusal", "raw": "Sure."},
        ROW | {"id": "4", "text": "Sure.", "fault": None},
    ]
    path = lines_of(tmp_path / "mine.jsonl", *rows)
    made = read_rewritings(path)
    # No line break that would look like a further turn.
    assert [one.text for one in made] == ["No. USER: Fine. SYSTEM: Good.", "", "Sure.", "Sure."]
    assert [one.fault for one in made] == ["", "empty", "refusal", ""]
    assert [one.sample.id for one in made] == list("1234")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert read_rewritings(path) == made


def test_marks_in_a_text_do_not_part_the_key(tmp_path: Path) -> None:
    odd = replace(PLANTED[0], turns=(("USER", "a\u2028b\x85c"), ("SYSTEM", "=1+1\u2029")))
    write_sheets(tmp_path, make_items([Rewriting(odd, "=d", "", "")], [], seed=1), seed=1)
    (item,) = read_items(tmp_path)
    assert item.sample.turns == (odd.turns[0], ("SYSTEM", "=d"))


def test_the_whole_step_from_the_command_line(tmp_path: Path) -> None:
    made, real, out = tmp_path / "made.parquet", tmp_path / "real.jsonl", tmp_path / "sheets"
    rewritings_frame(MADE).to_parquet(made)
    samples_frame(PLANTED).to_json(real, orient="records", lines=True)
    run = CliRunner()
    command = ["annotation", "sheets", str(made), "--real", str(real), "--out", str(out)]
    first = run.invoke(app, [*command, "--mix", "4"])
    assert first.exit_code == 0, first.output
    assert "10 dialogues, 4 of them real; 1 rewritings have a fault" in first.output
    again = run.invoke(app, command)
    assert again.exit_code == 1 and "has sheets already" in again.output
    fill(sheet_path(out, 1), yes)
    odd = rows_of(sheet_path(out, 1))[0]["item"]
    fill(sheet_path(out, 2), lambda row: (int(row["item"] != odd), 1))
    early = run.invoke(app, ["annotation", "import", str(out)])
    assert early.exit_code == 1 and "disagree on 1 items" in early.output
    third = run.invoke(app, ["annotation", "third", str(out)])
    assert third.output.strip() == str(sheet_path(out, 3))
    fill(sheet_path(out, 3), yes)
    done = run.invoke(app, ["annotation", "import", str(out)])
    assert done.exit_code == 0, done.output
    kept = [json.loads(line) for line in (out / "confirmed.jsonl").read_text().splitlines()]
    assert {row["satisfied"] for row in kept} == {True}
    again = read_dialogues(out / "confirmed.jsonl")
    assert [sample.id for sample in again] == [row["id"] for row in kept]
    css = pd.read_csv(out / "css.csv").set_index("row")
    assert css.loc["Overall", "flipped"] == len(kept)
    assert set(pd.read_csv(out / "agreement.csv")["dialogues"]) == {"counterfactual", "real"}
