"""Topics, run and segments of TREC RAG 2024: readers and their errors."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from everycell.base.errors import DataError
from papers.lajewska2025.ch6_trec_rag import read_rag_passages, read_segments, segment_files


def corpus(folder: Path, texts: list[str], part: str, *, packed: bool) -> list[str]:
    """A file of segments whose ids are the places of their lines, as in the published form."""
    lines, ids, position = [], [], 0
    for number, text in enumerate(texts):
        ids.append(f"msmarco_v2.1_doc_{part}_0#{number}_{position}")
        segment = {"docid": ids[-1], "url": "", "title": '"docid": "x"', "segment": text}
        lines.append(json.dumps(segment).encode() + b"\n")
        position += len(lines[-1])
    (folder / "segments").mkdir(exist_ok=True)
    path = folder / "segments" / f"msmarco_v2.1_doc_segmented_{part}.json{'.gz' * packed}"
    content = b"".join(lines)
    path.write_bytes(gzip.compress(content) if packed else content)
    return ids


def write_run(folder: Path, rows: list[tuple[str, str, float]]) -> None:
    lines = [f"{topic} Q0 {docid} {n} {score} run" for n, (topic, docid, score) in enumerate(rows)]
    (folder / "run.txt").write_text("\n".join(lines))


@pytest.fixture
def rag(tmp_path):
    first = corpus(tmp_path, ["Owls eat mice.", "Owls  sleep.", "No one asks."], "00", packed=False)
    second = corpus(tmp_path, ["Mice – eat corn."], "59", packed=True)
    (tmp_path / "topics.rag24.test.txt").write_text(
        "2024-2\twhat do mice eat?\n2024-1\twhat do owls eat?\n"
    )
    rows = [("2024-1", first[1], 1.0), ("2024-1", first[0], 2.0), ("2024-2", second[0], 3.0)]
    write_run(tmp_path, rows)
    return tmp_path, first, second


def test_read_rag_passages_order(rag):
    folder, first, second = rag
    result = read_rag_passages(folder, depth=20)
    assert result[["topic", "rank", "passage_id", "text"]].values.tolist() == [
        ["2024-2", 1, second[0], "Mice – eat corn."],
        ["2024-1", 1, first[0], "Owls eat mice."],
        ["2024-1", 2, first[1], "Owls sleep."],
    ]
    assert read_rag_passages(folder, depth=1)["rank"].tolist() == [1, 1]
    assert set(read_rag_passages(folder, depth=1, topics=1)["topic"]) == {"2024-2"}


def test_read_segments_positions_in_ids(rag):
    folder, first, _ = rag
    path = segment_files(folder)[0]
    # Other lines may have any content.
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 20] + b"x" * 20)
    assert read_segments([path], [first[1]]) == {first[1]: "Owls sleep."}


def test_read_segments_moved(rag):
    folder, first, second = rag
    path = segment_files(folder)[0]
    path.write_bytes(b"\n" + path.read_bytes())
    segment_files(folder)[1].write_bytes(b"no gzip")
    assert read_segments(segment_files(folder), first[:2]) == {
        first[0]: "Owls eat mice.",
        first[1]: "Owls sleep.",
    }
    with pytest.raises(DataError, match=r"59.json.gz is damaged or not a gzip file"):
        read_segments(segment_files(folder), second)


def test_read_segments_file_without_number(rag):
    folder, first, _ = rag
    path = segment_files(folder)[0]
    assert read_segments([path.rename(path.with_name("mine.jsonl"))], [first[2]]) == {
        first[2]: "No one asks."
    }


@pytest.mark.parametrize(
    ("name", "content", "row", "value"),
    [
        ("topics.rag24.test.txt", "2024-1 what?\n", 1, "2024-1 what?"),
        ("topics.rag24.test.txt", "1\ta\n1\tb\n", 2, "1"),
        ("topics.rag24.test.txt", "\n", None, ...),
        ("topics.rag24.test.txt", "2024-1\ta\n2024-2\tb\n3\tc\n", None, "3"),
        ("run.txt.gz", "", None, ...),
    ],
)
def test_read_rag_passages_invalid_file(rag, name, content, row, value):
    folder, *_ = rag
    (folder / name).write_text(content)
    with pytest.raises(DataError) as caught:
        read_rag_passages(folder, depth=5)
    assert (caught.value.row, caught.value.value) == (row, value)
    paths = (folder / name, folder, folder / "run.txt")
    assert caught.value.path in paths


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("topics.rag24.test.txt", "2024-2\tmice?\n", "'2024-1'"),
        ("run.txt", "2024-1 Q0 d\n", "run.txt"),
    ],
)
def test_read_rag_passages_invalid_run(rag, name, content, message):
    folder, *_ = rag
    (folder / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        read_rag_passages(folder, depth=5)


@pytest.mark.parametrize(
    ("change", "row"),
    [
        (lambda line: b"{}\n" + line, 1),
        (lambda line: line.replace(b"Owls  sleep.", b" "), "byte"),
        (lambda line: line.replace(b'"Owls  sleep."', b"4"), "byte"),
        (lambda line: line.replace(b'"segment": "Owls  sleep."', b'"text": ""'), "byte"),
        (lambda line: line.replace(b'Owls  sleep."}', b"Owls"), "byte"),
    ],
)
def test_read_segments_invalid_line(rag, change, row):
    folder, first, _ = rag
    path = segment_files(folder)[0]
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DataError) as caught:
        read_segments([path], [first[1]])
    assert caught.value.path == path
    expected = f"byte {first[1].rpartition('_')[2]}" if row == "byte" else row
    assert caught.value.row == expected


def test_read_segments_missing(rag):
    folder, first, _ = rag
    with pytest.raises(DataError, match=r"_00.json and 1 more files: .*1 of 2") as caught:
        read_segments(segment_files(folder), [first[0], "x_01_2#0_7"])
    assert caught.value.value == "x_01_2#0_7"
    for path in segment_files(folder):
        path.unlink()
    with pytest.raises(DataError) as caught:
        read_rag_passages(folder, depth=5)
    assert caught.value.path == folder / "segments"
