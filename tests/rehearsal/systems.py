"""Small material for a rehearsal of the systems of TREC CAsT on its collections."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice

import pandas as pd
from cast_corpora import POSTS, write_2020, write_2021
from rehearsal.material import runs_of_two_years
from rehearsal.rankings import write_ance
from rehearsal.stage import Settings, Stage
from tiny_t5 import write_t5

from everycell.sources import fetch
from everycell.trec.runs import read_qrels
from papers.lajewska2025.cast_data import read_turns

#: Judged passages of a turn that the small collections have.
RELEVANT = 2
#: Files of the collection of 2021 by the prefixes of ids.
_FILES = {"MARCO": "msmarco-docs.tsv", "KILT": "kilt_knowledgesource.json", "WAPO": POSTS}


def systems_on_collections(stage: Stage) -> Settings:
    """lajewska2025, chapter 3: collections of both years, QReCC, and models of the systems.

    In published form: names and formats of all files, among them CBOR, offsets and md5 of passages,
    and ids of judged documents; turns and judgements are the released ones. Invented: passages,
    which repeat the turn for which they are relevant, questions of QReCC, weights.
    """
    settings = runs_of_two_years(stage)["cast_systems"]
    del settings["runs_2020"]
    words: Counter[str] = Counter()
    sizes = {}
    for year in ("2020", "2021"):
        turns = _fetch(stage, f"topics/{year}_manual_evaluation_topics_v1.0.json")
        turns = read_turns(turns).set_index("query")["manual"]
        words.update(word for text in turns for word in text.split() if word.isalpha())
        relevant = _relevant(stage, year)
        texts = dict(zip(relevant["document"], relevant["query"].map(turns), strict=True))
        folder = stage.folder / "data" / f"cast-{year}"
        if year == "2020":
            unjudged = [f"A bee flew over river {number}." for number in range(50)]
            paragraphs = {
                name.partition("_")[2]: [text, " [as told]", "."] for name, text in texts.items()
            }
            write_2020(folder, unjudged, paragraphs)
            sizes[year] = len(unjudged) + len(paragraphs)
            continue
        documents: dict[str, dict] = {file: {} for file in _FILES.values()}
        for name, text in texts.items():
            prefix, _, number = name.partition("_")
            documents[_FILES[prefix]][number] = ("Title", [text, "A bee flew."])
        write_2021(folder, documents, duplicates={"D0": "A bee flew."})
        sizes[year] = 2 * len(texts)

    questions = [
        {"Context": ["what is hail", "frozen rain"] * (n % 3), "Question": "and snow",
         "Rewrite": "what is snow", "Conversation_no": n // 3, "Turn_no": n % 3 + 1}
        for n in range(12)
    ]  # fmt: skip
    folder = stage.folder / "data/qrecc"
    folder.mkdir(parents=True)
    for part, rows in {"train": questions[:8], "test": questions[8:]}.items():
        (folder / f"qrecc_{part}.json").write_text(json.dumps(rows), encoding="utf-8")

    vocabulary = ["true", "false", *(word for word, _ in islice(words.most_common(), 300))]

    def t5(name: str) -> str:
        return stage.put_on_hub(name, lambda folder: write_t5(folder, vocabulary, factor=3.0))

    return {
        "cast_systems": settings
        | {
            "collection_2020": "data/cast-2020",
            "collection_2021": "data/cast-2021",
            "passages": {f"year_{year}": size for year, size in sizes.items()},
            "qrecc": "data/qrecc",
            "bm25_grid": {"b": [0.4, 0.8], "k1": [0.9]},
            "first_pass": 20,
            "pairwise": 3,
            "models": {
                "ance": stage.put_on_hub("castorini/ance-msmarco-passage", write_ance),
                "mono_t5": t5("castorini/monot5-base-msmarco"),
                "duo_t5": t5("castorini/duot5-base-msmarco"),
                "length": 64,
            },
            "rewriter_training": {"start": t5("google-t5/t5-base")},
            "rewriters": {"canard": t5("toy/canard")},
        }
    }


def _fetch(stage: Stage, name: str):  # noqa: ANN202
    key = f"cast-reproducibility/{name}"
    return fetch(key, stage.folder / "made", mirror=stage.mirror, network=False)


def _relevant(stage: Stage, year: str) -> pd.DataFrame:
    """Some relevant documents of each turn, each for one turn.

    MS MARCO's passages of 2020 have consecutive ids, so a small collection lacks the judged ones.
    """
    qrels = read_qrels(stage.mirror / f"cast-reproducibility/qrels/{year}.txt.gz")
    rows = qrels[(qrels["relevance"] >= 2) & ~qrels["document"].duplicated()]
    if year == "2020":
        rows = rows[rows["document"].str.startswith("CAR_")]
    return rows.groupby("query", sort=False).head(RELEVANT)
