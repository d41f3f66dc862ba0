"""The folder of heuss2025, chapter 5, made from files of KILT as its documentation says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/citation-faithfulness.md"
#: Replacements of the downloads of the scripts: a tokenizer and a late-interaction model.
STUBS = {
    "tokenizers": """
import re
from types import SimpleNamespace

class Tokenizer:
    from_pretrained = classmethod(lambda cls, name: cls())

    def encode_batch(self, texts):
        return [SimpleNamespace(ids=re.findall(r"\\s*\\S+", text)) for text in texts]

    def decode(self, ids):
        return "".join(ids)
""",
    "pylate": """
import re
from types import SimpleNamespace

def words(text):
    return set(re.findall(r"[a-z]+", text.lower()))

class ColBERT:
    def __init__(self, name):
        assert name == "colbert-ir/colbertv2.0"

    def encode(self, texts, is_query):
        return texts

def rerank(documents_ids, queries_embeddings, documents_embeddings):
    return [
        sorted(
            ({"id": name, "score": len(words(query) & words(text)) / len(words(text))}
             for name, text in zip(names, texts, strict=True)),
            key=lambda result: -result["score"],
        )
        for names, query, texts in zip(
            documents_ids, queries_embeddings, documents_embeddings, strict=True
        )
    ]

models, rank = SimpleNamespace(ColBERT=ColBERT), SimpleNamespace(rerank=rerank)
""",
}


def make_folder(project: Path, questions: dict[str, str], pages: dict[str, list[str]]) -> None:
    """Write `data/nq-kilt` of a project as the documentation says, from files in KILT's form."""
    kilt, stubs = project / "data/kilt", project / "stubs"
    kilt.mkdir(parents=True)
    stubs.mkdir()
    knowledge = [
        {"_id": str(number), "wikipedia_id": str(number), "wikipedia_title": title, "text": text}
        for number, (title, text) in enumerate(pages.items())
    ]
    tasks = [{"id": name, "input": question} for name, question in questions.items()]
    for name, rows in (
        ("kilt_knowledgesource.json", knowledge),
        ("nq-test_without_answers-kilt.jsonl", tasks),
    ):
        (kilt / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, code in STUBS.items():
        (stubs / f"{name}.py").write_text(code)
    scripts = re.findall(r"^```python\n(# \w+\.py\n.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert [script.split("\n")[0] for script in scripts] == ["# nq_kilt.py", "# colbert.py"]
    environment = os.environ | {"PYTHONPATH": str(stubs)}
    for script in scripts:
        command = [sys.executable, "-c", script]
        subprocess.run(command, cwd=project, env=environment, check=True, timeout=300)
