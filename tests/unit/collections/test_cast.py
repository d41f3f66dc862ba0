"""Collections of TREC CAsT: published formats, the track's splits, damaged files."""

from __future__ import annotations

import cbor2
import pytest
from cast_corpora import POSTS, paragraph_corpus, write_2020, write_2021
from data_errors import refused

from everycell.base.errors import DataError
from everycell.collections.cast import (
    CAR,
    DOCUMENTS,
    Text,
    split_documents,
    stream_car,
    stream_cast,
    stream_kilt,
    stream_msmarco_documents,
    stream_washington_post,
)

PARAGRAPH = "6869dee46ab12f0f7060874f7fc7b1c57d53144a"


def test_stream_cast_2020(tmp_path):
    write_2020(tmp_path, ["hail is ice", "snow\x85 falls"], {PARAGRAPH: ["Rain of ", "[ice]", "."]})
    assert list(stream_cast("2020", tmp_path)) == [
        Text("MARCO_0", "", "hail is ice"),
        Text("MARCO_1", "", "snow\x85 falls"),
        Text(f"CAR_{PARAGRAPH}", "", "Rain of ice."),
    ]


def test_stream_cast_2021(tmp_path):
    documents = {
        "msmarco-docs.tsv": {"D7": ("Hail", ["Ice falls.", "It is cold."])},
        "kilt_knowledgesource.json": {"290": ("Snow", ["Snow falls."])},
        POSTS: {"1fbc40f4-279c-11e3-b3e9-d97fb087acd6": ("Storm", ["A storm came."])},
    }
    write_2021(tmp_path, documents, duplicates={"D8": "Ice falls."})
    assert list(stream_cast("2021", tmp_path)) == [
        Text("MARCO_D7-1", "Hail", "Ice falls."),
        Text("MARCO_D7-2", "Hail", "It is cold."),
        Text("KILT_290-1", "Snow", "Snow falls."),
        Text("WAPO_1fbc40f4-279c-11e3-b3e9-d97fb087acd6-1", "Storm", "A storm came."),
    ]


def test_stream_washington_post_paragraphs(tmp_path):
    path = tmp_path / "posts.jl"
    path.write_text(
        '{"id": "a", "title": null, "contents": [null, {"type": "kicker", "content": "Local"}, '
        '{"subtype": "paragraph", "content": "One <b>storm</b>.\\n"}, '
        '{"subtype": "paragraph", "content": "Two."}]}\n'
        '{"id": "b", "title": "T", "contents": null}\n'
    )
    assert list(stream_washington_post(path)) == [
        Text("WAPO_a", "No Title", "One storm.  Two."),
        Text("WAPO_b", "T", ""),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a text",
        cbor2.dumps({"a": 1}),
        # A file of pages, a truncated one, one without its end.
        cbor2.dumps(["CAR", [0], []]) + b"\x9f\xff",
        paragraph_corpus({PARAGRAPH: ["Rain"]})[:-9],
        paragraph_corpus({PARAGRAPH: ["Rain"]})[:-1],
    ],
)
def test_stream_car_damaged(tmp_path, content):
    (tmp_path / CAR).write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(stream_car(tmp_path / CAR))
    assert caught.value.path == tmp_path / CAR


@pytest.mark.parametrize("read", [stream_kilt, stream_washington_post, stream_msmarco_documents])
@pytest.mark.parametrize("line", ["{", "[1]", "{}", "D1\tno title", ""])
def test_documents_damaged(tmp_path, read, line):
    path = tmp_path / "file"
    path.write_text(line + "\n")
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert (caught.value.path, caught.value.row) == (path, 1)


@pytest.mark.parametrize(
    ("name", "text"), [("MARCO_D9", "Ice falls."), ("MARCO_D7", "Ice falls!")], ids=["id", "md5"]
)
def test_split_documents_of_another_collection(tmp_path, name, text):
    write_2021(tmp_path, {"msmarco-docs.tsv": {"D7": ("Hail", ["Ice falls."])}})
    offsets = DOCUMENTS["msmarco-docs.tsv"][1]
    with refused("id", "MARCO_D7", path=offsets, row=1):
        list(split_documents([Text(name, "", text)], tmp_path / offsets))
