"""Small material for a rehearsal of each full tier, in the formats of the real one.

One function per chapter writes files into a project and models into a local server that replaces
the hub, and returns the settings that a user would write. The results are meaningless: models are
random and texts invented.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import toy_corpora
import yaml
from language_model_server import reply_of
from rehearsal.kilt import write_colbert, write_kilt, write_tokenizer
from rehearsal.stage import Settings, Stage
from tiny_bert import SPECIAL, tiny_bert, write_bert
from tiny_language_model import make_model, make_tokenizer
from tiny_t5 import write_t5
from toy_corpora import YEARS, founded
from transformers import BertForSequenceClassification, BertModel, PreTrainedModel

from everycell.collections.msmarco import QUERY_SETS, read_query_set
from everycell.collections.satisfaction_samples import Sample, samples_from_frame, samples_to_frame
from everycell.learning.tildev2 import TildeV2
from everycell.sources import fetch
from everycell.text.sentences import sentence_spans
from everycell.trec.runs import read_qrels, write_run
from papers.abolghasemi2026.ch3_counterfactuals import Rewriting
from papers.abolghasemi2026.ch3_data import (
    CAUSE_BENCHMARK,
    CAUSE_FILES,
    FILES,
    read_dialogues,
    read_samples,
    read_split,
    split_samples,
)
from papers.abolghasemi2026.ch3_full_generation import picked_samples
from papers.abolghasemi2026.ch3_labels import make_pool
from papers.lajewska2025.answerability_data import read_passage_labels
from papers.lajewska2025.ch6_test_queries import topic_of
from papers.lajewska2025.ch6_votes import Study, plant_votes

WORDS = ["the", "a", "is", "of", "to", "and", "was", "founded", ".", "?"]
TOWNS = toy_corpora.TOWNS[:5]


def write_lines(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_encoder(folder: Path) -> None:
    words = [*SPECIAL, *WORDS]
    write_bert(folder, tiny_bert(words=len(words), positions=32), words)


def write_retriever(folder: Path, kind: type[PreTrainedModel]) -> None:
    """An encoder that reads the words of the towns' texts."""
    texts = " ".join([*map(founded, TOWNS), *TOWNS, "when [Q] [D]"])
    words = dict.fromkeys(re.findall(r"\w+|[^\w\s]", texts.lower()))
    vocabulary = [*SPECIAL, *words]
    model = tiny_bert(kind, words=len(vocabulary), positions=64)
    if kind is TildeV2:
        # Else most weights of words are 0.
        model.tok_proj.bias.data.fill_(3.0)
    write_bert(folder, model, vocabulary)


def write_town_run(path: Path, queries: Sequence[str], documents: Sequence[str]) -> None:
    """A run with the document of each query first."""
    rows = []
    for query, first in zip(queries, documents, strict=True):
        ranked = [first, *(document for document in documents if document != first)]
        for rank, document in enumerate(ranked, start=1):
            rows.append(f"{query} Q0 {document} {rank} {-rank} toy\n")
    path.write_text("".join(rows))


def write_inference(folder: Path) -> None:
    words = [*SPECIAL, *WORDS]
    model = tiny_bert(BertForSequenceClassification, words=len(words), positions=512)
    torch.manual_seed(0)
    model.classifier = torch.nn.Linear(8, 3)
    model.num_labels = 3
    model.config.id2label = dict(enumerate(("contradiction", "entailment", "neutral")))
    model.config.label2id = {name: position for position, name in model.config.id2label.items()}
    write_bert(folder, model, words)


def write_language_model(folder: Path) -> None:
    model = make_model()
    # Prompts have a token for each of their bytes.
    model.config.max_position_embeddings = 8192
    model.save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)


def satisfaction(stage: Stage) -> Settings:
    """abolghasemi2026, chapter 3: an encoder and two language models, all on the hub, and labels.

    In published form: the dialogues, which are the released ones. Invented: models, their names,
    and the labels of annotators.
    """
    write_satisfaction_labels(stage, samples=2, actual=1)
    # So many that some of the samples are dissatisfied.
    few = {"steps": 4, "batch": 4, "validations": 1, "samples": 100}
    small = {"turns": 2, "utterance": 16, "size": 8, "heads": 2, "layers": 1, "hawkes_layers": 1}
    models = {
        name: {
            "source": stage.put_on_hub(f"toy/{name}", write_language_model),
            "dtype": "float32",
            "batch": 4,
        }
        for name in ("zephyr", "mistral-if")
    }
    return {
        "counterfactuals": {
            "max_tokens": 4,
            "full": {"model": "mistral-if", "samples": 2, "actual": 1, "labels": "labels.csv"},
        },
        "user_satisfaction": {
            "orders": 2,
            "draws": 100,
            "full": {
                "model": stage.put_on_hub("toy/encoder", write_encoder),
                "bert": few | {"length": 16},
                "asap": few | small,
                "few_shot": {"pairs": 4},
            },
        },
        # Answers of random models may be empty.
        "language_models": {"local": models, "largest_empty_share": 1},
    }


def write_satisfaction_labels(stage: Stage, *, samples: int, actual: int) -> None:
    """Labels of two annotators for the pool of these sizes.

    Both say that each rewriting flips the label, but for the first dialogue of each benchmark, on
    which they disagree, and a third annotator says that it does not.
    """
    main = pd.concat(samples_to_frame(part) for part in satisfaction_test_samples(stage).values())
    seed = yaml.safe_load((stage.folder / "config.yaml").read_text())["seed"]
    picked = picked_samples(main, samples=samples, seed=seed)
    rewritings = [Rewriting(sample, "", "", "") for sample in picked]
    pool = make_pool(rewritings, samples_from_frame(main), actual=actual, seed=seed)
    first = pool[pool["counterfactual"]].groupby("benchmark")["dialogue"].first().tolist()
    lines = ["dialogue,annotator,satisfied,coherent"]
    for row in pool.itertuples():
        flipped = {True: "no", False: "yes"}[row.satisfied == row.counterfactual]
        other = {"no": "yes", "yes": "no"}[flipped]
        lines.append(f"{row.dialogue},anna,{flipped},yes")
        lines.append(f"{row.dialogue},bert,{other if row.dialogue in first else flipped},yes")
        if row.dialogue in first:
            lines.append(f"{row.dialogue},carl,{other},no")
    (stage.folder / "labels.csv").write_text("\n".join(lines) + "\n")


def satisfaction_test_samples(stage: Stage) -> dict[str, list[Sample]]:
    """Released test samples of both benchmarks."""

    def released(key: str) -> Path:
        return fetch(key, stage.folder / "made", mirror=stage.mirror, network=False)

    ratings, valid, test = (released(FILES["SGD"][part]) for part in ("ratings", "valid", "test"))
    split = split_samples(read_dialogues(ratings), read_split(valid), read_split(test), "SGD")
    main = read_samples(released(CAUSE_FILES["main"]), CAUSE_BENCHMARK, "test")
    return {CAUSE_BENCHMARK: main, "SGD": split.test}


def attribution(stage: Stage) -> Settings:
    """abolghasemi2026, chapter 5: questions, passages, a run, two encoders and MS MARCO QA.

    In published form: the file of MS MARCO QA, with a passage without a text. Natural Questions
    are in the form of a user's folder. Invented: all texts, weights, and the models' answers.
    """
    data = stage.folder / "data/nq"
    write_lines(data / "passages.jsonl", [{"id": item, "text": founded(item)} for item in TOWNS])
    questions = [
        {
            "id": f"q{number}",
            "question": f"when was {town} founded",
            "answers": [YEARS[town]],
            "relevant": [town],
        }
        for number, town in enumerate(TOWNS)
    ]
    write_lines(data / "questions.jsonl", questions)
    write_town_run(data / "bm25.run", [f"q{number}" for number in range(len(TOWNS))], TOWNS)
    qa = toy_corpora.msmarco_qa(TOWNS, len(TOWNS))
    (stage.folder / "data/dev_v2.1.json").write_bytes(gzip.decompress(qa))

    def answer(handler: object, body: dict) -> dict:
        message = body["messages"][-1]["content"]
        if "Question:" not in message:
            town = next(town for town in TOWNS if town in message)
            return reply_of(f"A little monastery set up {town}, a seaside town, in {YEARS[town]}.")
        pieces = [("It was then [", -0.1), ("1", -0.5), ("].", -0.1)]
        tokens = [{"token": token, "logprob": value} for token, value in pieces]
        logprobs = {"content": tokens} if body.get("logprobs") else None
        return reply_of("It was then [1].", logprobs=logprobs)

    stage.endpoint.replies = [answer]
    return {
        "attribution": {
            "full": {
                "nq": "data/nq",
                "msmarco_qa": "data/dev_v2.1.json",
                "retrievers": {
                    "unicoil": "encode",
                    "tct_colbert": "encode",
                    "unicoil_encoder": stage.put_on_hub(
                        "toy/unicoil", lambda folder: write_retriever(folder, TildeV2)
                    ),
                    "length": 48,
                    "tct_colbert_encoder": stage.put_on_hub(
                        "toy/tct-colbert", lambda folder: write_retriever(folder, BertModel)
                    ),
                },
                "models": {"mine": "Mistral", "other": "Llama3"},
                "questions": dict.fromkeys(("main", "extended", "depths", "retrievers"), 2),
                "k": 2,
                "depths": [2, 3],
            },
            "paraphrases": {"full": {"model": "mine"}},
        },
        "language_models": stage.endpoints("mine", "other"),
    }


def fair_reranking(stage: Stage) -> Settings:
    """heuss2025, chapter 3: passages with judgements, and the authors' file of scores.

    In published form: the files of MS MARCO, the queries, name and columns of the file of scores.
    Invented: passages, judgements, scores.
    """
    data = stage.folder / "data/msmarco"
    data.mkdir(parents=True)
    key = QUERY_SETS["qs2"]
    resource = fetch(key, stage.folder / "made", mirror=stage.mirror, network=False)
    queries = list(read_query_set("qs2", resource))
    rng = np.random.default_rng(3)
    texts = [
        "he told his father and his brother" if number % 3 == 0 else "the bee told the river"
        for number in range(60)
    ]
    lines = "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))
    (data / "collection.tsv").write_text(lines)
    judged = "".join(f"{query}\t0\t{rng.integers(len(texts))}\t1\n" for query in queries)
    (data / "qrels.dev.tsv").write_text(judged)
    run = pd.DataFrame(
        [
            (query, str(document))
            for query in queries
            for document in rng.choice(len(texts), 30, replace=False)
        ],
        columns=["query", "document"],
    )
    scores = run.rename(columns={"query": "qid", "document": "docid"})
    scores = scores.assign(
        mean_score=rng.normal(size=len(run)), std_score=rng.uniform(0.1, 0.9, len(run))
    )
    name = "data/msmarco_fair_data/msmarco_pointwise_uncertainty.csv"
    (stage.folder / name).parent.mkdir()
    scores.to_csv(stage.folder / name, index=False)
    return {
        "term_fairness": {"msmarco": {"folder": "data/msmarco", "passages": len(texts)}},
        "uncertain_ranking": {"msmarco": {"scores": name}},
    }


def list_explanations(stage: Stage) -> Settings:
    """heuss2025, chapter 4: folds in the form of LETOR, whose labels one feature decides.

    In published form: names and lines of the files, numbers of features. Invented: values and
    labels.
    """
    for name, features, deciding in (("mq2008", 46, 7), ("mslr_web10k", 136, 100)):
        folder = stage.folder / "data" / name
        folder.mkdir(parents=True)
        rng = np.random.default_rng(features)
        for part, lists in (("train", 30), ("test", 3)):
            lines = []
            for query in range(lists):
                for vector in rng.random((8, features)):
                    values = " ".join(f"{n}:{value:.4f}" for n, value in enumerate(vector, start=1))
                    label = int(3 * vector[deciding - 1])
                    lines.append(f"{label} qid:{10 + query} {values} #docid = GX000-00-0000000\n")
            (folder / f"{part}.txt").write_text("".join(lines))
    folders = {"mq2008": "data/mq2008", "mslr_web10k": "data/mslr_web10k"}
    return {"list_explanations": {"folders": folders}}


def citations(stage: Stage) -> Settings:
    """heuss2025, chapter 5: questions, passages, a run, and a model that cites words.

    In published form: the two files of KILT, a tokenizer and a ColBERT, from which the documents
    are made; requests and replies of Command-R behind vLLM, with documents that its template shows,
    numbered from 0. Invented: the texts, the tokenizer's merges, ColBERT's weights, and the model's
    behaviour.
    """
    claims = {"owls": "night", "bees": "honey", "ants": "nests"}
    pages = {
        "Owl": ["Owls hunt ", "at night."],
        "Owls as birds": ["Owls are birds."],
        "Bee": ["Bees make honey."],
        "Hive": ["Bees live in hives."],
        "Ant": ["Ants dig nests."],
        "Ants as insects": ["Ants are small."],
    }
    questions = {str(number): f"What of {name}?" for number, name in enumerate(claims)}
    kilt = stage.folder / "data/kilt"
    kilt.mkdir(parents=True)
    write_kilt(kilt, questions, pages)
    write_tokenizer(kilt / "tokenizer.json")
    write_colbert(kilt / "colbert", [word for pair in claims.items() for word in pair])

    def answer(handler: object, body: dict) -> dict:
        question = body["messages"][-1]["content"]
        word = next(word for name, word in claims.items() if name in question)
        documents = [document["text"] for document in body["documents"]]
        numbers = [str(position) for position, text in enumerate(documents) if word in text.lower()]
        cited = ",".join(numbers)
        marked = f"<co: {cited}>{word}</co: {cited}>" if cited else word
        return reply_of(
            f"Relevant Documents: {','.join(map(str, range(len(documents))))}\n"
            f"Cited Documents: {cited or 'None'}\n"
            f"Answer: It is {word}.\nGrounded answer: It is {marked}.",
            prompt_tokens=300 + sum(len(text.split()) for text in documents),
        )

    stage.endpoint.replies = [answer]
    return {
        "citation_faithfulness": {
            "full": {
                "models": {"mine": "own template"},
                "kilt": {
                    "pages": "data/kilt/kilt_knowledgesource.json",
                    "questions": "data/kilt/nq-test_without_answers-kilt.jsonl",
                    "tokenizer": "data/kilt/tokenizer.json",
                    "model": "data/kilt/colbert",
                },
                "questions": 9,
                "depth": 2,
            }
        },
        "language_models": stage.endpoints("mine", grounded=True),
    }


def runs_of_two_years(stage: Stage) -> Settings:
    """lajewska2025, chapter 3: runs of 2020, and the organisers' run of 2021 in its two files.

    In published form: names of the eight runs as unpacked, ids of both years, six columns, and in
    the organisers' run of documents the cut ids of the Washington Post. Invented: the rankings.
    """
    from everycell.base.yaml import read_model
    from everycell.records.cells import RecordError
    from everycell.records.full_runs import FullTier

    declared = read_model(stage.folder / "published/full.yaml", FullTier, RecordError)
    folder = stage.folder / "data/runs"
    folder.mkdir(parents=True)
    qrels = read_qrels(stage.mirror / "cast-reproducibility/qrels/2020.txt.gz")
    dice = np.random.default_rng(7)
    result = dice.random(len(qrels))
    for position, name in enumerate(declared.materials["cast_runs_2020"].holds):
        run = qrels[result < 0.2 + position / 20][["query", "document"]]
        path = folder / name.partition("|")[0]
        write_run(run.assign(score=dice.random(len(run))), path, tag="rehearsal")
    qrels = read_qrels(stage.mirror / "cast-reproducibility/qrels/2021.txt.gz")
    run = qrels[qrels["relevance"] >= 2][["query", "document"]]
    run = run.assign(score=dice.random(len(run)))
    name = "org_automatic_results_1000.v1.0.run"
    baselines = stage.folder / "data/baselines"
    (baselines / "document_runs").mkdir(parents=True)
    write_run(run.assign(document=run["document"] + "-1"), baselines / name, tag="org")
    # The track's file cuts the ids of the Washington Post at the first hyphen.
    cut = run.assign(document=run["document"].str.partition("-")[0])
    cut = cut.drop_duplicates(["query", "document"])
    write_run(cut, baselines / "document_runs" / name, tag="org")
    return {
        "cast_systems": {
            "runs_2020": "data/runs",
            "organisers_run": f"data/baselines/document_runs/{name}",
            "organisers_passages": f"data/baselines/{name}",
        }
    }


def answerability(stage: Stage) -> Settings:
    """lajewska2025, chapter 5 and appendix B: SQuAD 2.0, an encoder, a model that answers.

    In published form: names and fields of the files. Invented: questions, encoder, and answers: the
    model says no to each passage and yes to each ranking.
    """
    for part in ("train", "dev"):
        answered = {"question": "who?", "answers": [{"text": "Ann"}]}
        paragraphs = [
            {"context": "Ann left. It rained.", "qas": [answered]},
            {"context": "A bee. A tree.", "qas": [{"question": "why?", "answers": []}]},
        ]
        path = stage.folder / f"data/{part}-v2.0.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}), encoding="utf-8")

    def answer(handler: object, body: dict) -> dict:
        return reply_of("0" if "\nPassage: " in body["messages"][-1]["content"] else "1")

    stage.endpoint.replies = [answer]
    return {
        "language_models": stage.endpoints("mine"),
        "answerability": {
            "prompted": {"models": {"mine": "Toy"}, "questions": 1},
            "full": {
                "model": stage.put_on_hub("toy/encoder", write_encoder),
                "squad": "data/train-v2.0.json",
                "squad_dev": "data/dev-v2.0.json",
                "epochs": 1,
                "batch": 1024,
                "length": 16,
            },
        },
    }


#: Number of questions that a model of chapter 6 answers, and topics of the test queries.
QUESTIONS, TEST_TOPICS = 3, ("89", "96", "100", "105", "143")


def write_votes(stage: Stage) -> str:
    """Answers of a crowd study on the responses to the first questions."""
    folder = stage.mirror / "cast-answerability"
    passages = read_passage_labels(
        folder / "snippets_sentence_answerability.csv.gz", folder / "unanswerable_passages.csv.gz"
    )
    turns = passages["turn_id"]
    topics = turns[turns.map(topic_of).isin(TEST_TOPICS)].unique()[:QUESTIONS]
    study = Study(
        QUESTIONS, 5, share=0.3, rating=0.5, agreement=0.1, inattentive=0.1, rejected_from=5
    )
    votes, _ = plant_votes(study, np.random.default_rng(0))
    names = {f"q{number}": topic for number, topic in enumerate(topics, 1)}
    path = stage.folder / "votes.csv"
    votes.assign(query=votes["query"].map(names)).to_csv(path, index=False)
    return str(path)


def responses(stage: Stage) -> Settings:
    """lajewska2025, chapter 6 and appendix C: a model that marks, writes and judges.

    In published form: topics, nuggets and responses, which are the released ones; requests and
    replies of OpenAI's protocol. Invented: answers of the models and of crowd workers, duoT5, the
    model of inference.
    """

    def write(handler: object, body: dict) -> dict:
        prompt = body["messages"][-1]["content"]
        if "Facts:" in prompt:
            facts = re.findall(r"^(\d+)\. ", prompt.rpartition("Facts:")[2], re.MULTILINE)
            labels = ("support" if int(number) % 2 else "not_support" for number in facts)
            return reply_of("\n".join(map(": ".join, zip(facts, labels, strict=True))))
        if "Passage:" in prompt:
            passage = prompt.rpartition("Passage: ")[2]
            start, end = sentence_spans(passage)[0]
            return reply_of(f"{passage[:start]}<IN>{passage[start:end]}</IN>{passage[end:]}")
        if "Statements:" in prompt:
            return reply_of("1: yes")
        if prompt.startswith("Text of the quiz:"):
            return reply_of("+ food\n+ nests\n- ships\n- rain")
        if "Beginnings of documents" in prompt:
            return reply_of("- food of owls\n- nests")
        if prompt.startswith("Text:"):
            return reply_of("- What do owls eat?\n- Why?")
        if "statements" in body["messages"][0]["content"]:
            return reply_of("- One thing is so.\n- Another is not.")
        return reply_of(" ".join(re.findall(r"\w+", prompt)[-6:]).capitalize() + ".")

    stage.endpoint.replies = [write]
    return {
        "ginger": {
            "full": {
                "model": "mine",
                "duo": stage.put_on_hub(
                    "toy/duo", lambda folder: write_t5(folder, ["true", "false", "the", "of"])
                ),
                "inference": stage.put_on_hub("toy/nli", write_inference),
                "questions": QUESTIONS,
                "votes": write_votes(stage),
                "judges": {"mine": "GPT4o", "second": "Gemini", "third": "Claude"},
                "topics": 2,
            }
        },
        "language_models": stage.endpoints("mine", "second", "third"),
    }
