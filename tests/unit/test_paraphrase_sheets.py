"""Sheets for paraphrases: blind, checked, settled; from the workflow's files to the share."""

import csv
import io

import pandas as pd
import pytest
from typer.testing import CliRunner

from everycell.cli import app
from everycell.rag.paraphrase_pairs import draw_others, make_pairs
from everycell.rag.paraphrase_sheets import (
    FORM,
    agreement,
    read_labels,
    read_pairs,
    write_sheets,
    write_third,
)
from everycell.text.sheets import KEY, SheetError, read_sheet, sheet, sheet_path

NUMBERS = range(1, 21)
QUESTIONS = pd.DataFrame(
    {
        "query_id": [f"q{n}" for n in NUMBERS],
        "text": [f"where is {n}" for n in NUMBERS],
        "answers": [["Delft", "-5"]] * len(NUMBERS),
    }
)
RELEVANT = pd.DataFrame(
    {"query": [f"q{n}" for n in NUMBERS], "document": [f"d{n}" for n in NUMBERS]}
)
PASSAGES = pd.DataFrame(
    {"document_id": [f"d{n}" for n in NUMBERS], "text": [f"={n} is in Delft." for n in NUMBERS]}
)
SAID = PASSAGES.assign(text=[f"Delft has {n}." for n in NUMBERS], kept=[n > 2 for n in NUMBERS])
PAIRS = make_pairs(QUESTIONS, RELEVANT, PASSAGES, SAID, seed=3)
#: Of each question its own passage, then the two with the next numbers.
RUN = pd.DataFrame(
    [
        (f"q{n}", f"d{(n + further - 1) % 20 + 1}", -further)
        for n in NUMBERS
        for further in range(3)
    ],
    columns=["query", "document", "score"],
)


def fill(folder, annotator, answer):
    """Fill in a sheet: `answer` gives 0 or 1 of a pair, a passage's origin and an aspect."""
    path = sheet_path(folder, annotator)
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    pairs = {pair.name: pair for pair in read_pairs(folder)[0]}
    for row in rows:
        pair = pairs[row["item"]]
        for place, origins in (("first", "oi"), ("second", "io")):
            origin = origins[not pair.swapped] == "i"
            for aspect in ("relevant", "answers"):
                row[f"{place}_{aspect}"] = answer(pair, "original" if origin else "made", aspect)
        row["same"] = answer(pair, "both", "same")
    text = io.StringIO()
    writer = csv.DictWriter(text, FORM.columns)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def test_only_what_was_kept_is_shown_and_neither_side_gives_it_away():
    assert len(PAIRS) == 18 and {"d1", "d2"}.isdisjoint(pair.document for pair in PAIRS)
    assert {pair.swapped for pair in PAIRS} == {True, False}
    text = sheet(FORM, {"p1": {name: "=1+1" for name in FORM.shown}}, 1, seed=0).decode()
    assert ",=" not in text
    again = make_pairs(QUESTIONS[::-1], RELEVANT[::-1], PASSAGES[::-1], SAID[::-1], seed=3)
    assert again == PAIRS


def test_answers_come_back_by_origin_whatever_was_shown_first(tmp_path):
    folder = tmp_path / "sheets"
    write_sheets(folder, PAIRS, seed=3)
    lost = PAIRS[0].name

    def first(pair, origin, aspect):
        return int(not (pair.name == lost and origin == "made" and aspect == "answers"))

    fill(folder, 1, first)
    fill(folder, 2, lambda pair, origin, aspect: 1)
    with pytest.raises(SheetError, match="annotation paraphrases third"):
        read_labels(folder)
    write_third(folder)
    fill(folder, 3, lambda pair, origin, aspect: 0)
    labels = read_labels(folder).set_index("item")
    assert labels["original_answers"].tolist() == [1] * 18
    assert labels.loc[labels["paraphrase_answers"] == 0].index.tolist() == [lost]
    # The third said no to everything, but counts only where the others differ.
    assert labels["same"].tolist() == [1] * 18
    assert labels["survives"].sum() == 17
    found = agreement(labels.reset_index()).set_index("question")
    assert found.loc["paraphrase_answers", "percent agreement"] == pytest.approx(100 * 17 / 18)
    assert found.loc["survives", "yes"] == pytest.approx(100 * 17 / 18)


def draw(share, seed=3, run=RUN):
    return draw_others(run, QUESTIONS, RELEVANT, SAID, share=share, seed=seed)


def test_a_share_of_questions_shows_a_passage_that_is_not_relevant():
    others = draw(0.1)
    assert len(others) == 2
    for query, document in others.itertuples(index=False):
        assert int(document[1:]) - int(query[1:]) in (1, 2)
    # Another seed draws others; the order of what is given changes nothing.
    assert not draw(0.1, seed=4).equals(others)
    assert draw_others(RUN[::-1], QUESTIONS[::-1], RELEVANT, SAID, share=0.1, seed=3).equals(others)
    # The passage of question 1 and 2, and with it all that stands behind, was not kept, and so was
    # not the second one of question 20.
    every = draw(1)
    assert every["query"].tolist() == sorted({f"q{n}" for n in NUMBERS} - {"q1", "q2", "q20"})
    assert every.set_index("query").loc["q19", "document"] == "d20"
    assert draw(0).empty and len(draw(0.001)) == 1
    with pytest.raises(SheetError, match="None of 20 questions has a retrieved passage"):
        draw(0.1, run=RUN[RUN["score"] == 0])


def test_passages_that_are_not_relevant_survive_if_they_stay_so(tmp_path):
    pairs = make_pairs(QUESTIONS, RELEVANT, PASSAGES, SAID, draw(0.2), seed=3)
    assert sum(pair.relevant for pair in pairs) == 18 and len(pairs) == 22
    # Names say nothing of what is relevant.
    assert {pair.name for pair in pairs[:18]} != {pair.name for pair in pairs if pair.relevant}
    folder = tmp_path / "sheets"
    write_sheets(folder, pairs, seed=3)
    assert read_pairs(folder) == (pairs, 3)
    first, *_ = (pair.name for pair in pairs if not pair.relevant)

    def careful(pair, origin, aspect):
        answered = pair.name == first and origin == "made" and aspect == "answers"
        return int(pair.relevant or aspect == "same" or answered)

    for annotator in (1, 2):
        fill(folder, annotator, careful)
    labels = read_labels(folder)
    assert labels["survives"].sum() == 21
    assert labels.set_index("item").loc[first, ["relevant", "survives"]].tolist() == [0, 0]
    found = agreement(labels).set_index(["passages", "question"])
    assert found["percent agreement"].tolist() == [100.0] * 12
    assert found.loc[("relevant", "survives"), ["items", "yes"]].tolist() == [18, 100]
    assert found.loc[("not relevant", "survives"), ["items", "yes"]].tolist() == [4, 75]
    assert found.loc[("not relevant", "original_relevant"), "yes"] == 0


def test_what_was_changed_is_refused(tmp_path):
    folder = tmp_path / "sheets"
    write_sheets(folder, PAIRS, seed=3)
    with pytest.raises(SheetError, match="has sheets already, which may be filled in"):
        write_sheets(folder, PAIRS, seed=3)
    with pytest.raises(SheetError, match="`first_relevant` of item p0.* is empty"):
        read_labels(folder)
    path = sheet_path(folder, 1)
    path.write_bytes(path.read_bytes().replace(b"where is", b"Where was", 1))
    shown = {"p": dict.fromkeys(FORM.shown, "")}
    with pytest.raises(SheetError, match="which is not among this sheet's 1"):
        read_sheet(path, FORM, shown)
    with pytest.raises(SheetError, match="the question of item p0.* was changed"):
        read_labels(folder)
    key = folder / KEY
    key.write_text(key.read_text().replace('"swapped": true', '"swapped": 1'))
    with pytest.raises(SheetError, match=r"key\.jsonl, line \d+: is not an item"):
        read_pairs(folder)


def test_no_pair_and_no_folder_are_refused(tmp_path):
    with pytest.raises(SheetError, match="No question has a relevant passage"):
        make_pairs(QUESTIONS, RELEVANT, PASSAGES, SAID.assign(kept=False), seed=1)
    with pytest.raises(SheetError, match="has no key.jsonl; name the folder"):
        read_pairs(tmp_path)


def test_the_commands_from_the_files_of_the_workflow(tmp_path):
    pool, made, out = tmp_path / "nq", tmp_path / "made", tmp_path / "sheets"
    for folder in (pool, made):
        folder.mkdir()
    QUESTIONS.to_parquet(pool / "questions.parquet")
    RELEVANT.to_parquet(pool / "relevant.parquet")
    PASSAGES.to_parquet(pool / "passages.parquet")
    SAID.to_parquet(made / "paraphrases.parquet")
    command = ["annotation", "paraphrases"]
    run = CliRunner().invoke
    asked = [*command, "sheets", str(pool), str(made), "--out", str(out)]
    early = run(app, asked)
    assert early.exit_code == 1 and "asked.parquet: holds no frame" in early.output
    pd.DataFrame({"query_id": ["q3", "q4", "q5"]}).to_parquet(made / "asked.parquet")
    lacking = run(app, asked)
    assert lacking.exit_code == 1 and "bm25.run; name one with --run" in lacking.output
    assert (
        "3 pairs, 0 of them" in run(app, [*asked[:-1], str(tmp_path / "a"), "--others", "0"]).output
    )
    (pool / "runs").mkdir()
    lines = (f"{row.query} Q0 {row.document} 1 {row.score} bm25\n" for row in RUN.itertuples())
    (pool / "runs" / "bm25.run").write_text("".join(lines))
    assert "4 pairs, 1 of them with passages that are not relevant" in run(app, asked).output
    for annotator in (1, 2):
        fill(out, annotator, lambda pair, origin, aspect: int(pair.query != "q4"))
    assert "agree on everything" in run(app, [*command, "third", str(out)]).output
    told = run(app, [*command, "import", str(out)]).output
    assert "2 of 3 paraphrases survive of passages that are relevant." in told
    (other,) = (pair for pair in read_pairs(out)[0] if not pair.relevant)
    kept = int(other.query == "q4")
    assert f"{kept} of 1 paraphrases survive of passages that are not relevant." in told
    assert pd.read_csv(out / "labels.csv")["survives"].sum() == 2 + kept
