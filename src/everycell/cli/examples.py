"""Examples in the help of each command."""

from __future__ import annotations

#: Command, with its group -> two calls of it.
EXAMPLES: dict[str, tuple[str, str]] = {
    "import": (
        "everycell import paper.tex --number 2",
        "everycell import README.md table.csv",
    ),
    "init": (
        "everycell init smith2026 --table table.csv --runs *.run --qrels qrels.txt",
        "everycell init smith2026 --table table.csv --values reproduced.csv",
    ),
    "make": (
        'everycell make "Table 4.8 lajewska2025"',
        "everycell make lajewska2025_ch4 --cores all -- --rerun-triggers mtime",
    ),
    "list": (
        "everycell list lajewska2025 --tier released",
        "everycell list --verdict different",
    ),
    "show": (
        'everycell show "Table 4.8 lajewska2025"',
        "everycell show lajewska2025_ch4 --format tex --verdicts",
    ),
    "why": (
        "everycell why smith2026/table_1",
        'everycell why "Table 5.1 lajewska2025" --tier released',
    ),
    "summary": ("everycell summary", "everycell summary --format csv"),
    "page": ("everycell page", "everycell page && xdg-open results/index.html"),
    "report": ("everycell report report.html", "everycell report sakai.html sakai2023"),
    "deposit": (
        "everycell deposit results deposit.zip",
        "everycell deposit results review.zip --anonymous",
    ),
    "debug": (
        "everycell debug lajewska2025_chC_votes",
        "everycell debug results/released/lajewska2025/table_4_8.csv",
    ),
    "verify": (
        "everycell verify",
        "everycell verify --rebuild released/lajewska2025/table_4_8",
    ),
    "diff": (
        "everycell diff results ../other/results",
        "everycell diff results ../other/results --format html",
    ),
    "check": ("everycell check sakai2023", "everycell check --schemas schemas"),
    "check-verdicts": (
        "everycell check-verdicts tests/expected_verdicts.csv",
        "everycell check-verdicts tests/expected_verdicts.csv --update",
    ),
    "doctor": ("everycell doctor", "everycell doctor --full lajewska2025_ch3"),
    "data fetch": (
        "everycell data fetch transparent-cis",
        "everycell data fetch cis-response-limitations transparent-cis",
    ),
    "data fetch-corpus": (
        "everycell data fetch-corpus msmarco",
        "everycell data fetch-corpus msmarco squad",
    ),
    "data convert-corpus": (
        "everycell data convert-corpus data/nq --beir beir/nq",
        "everycell data convert-corpus data/nq --beir beir/nq --run bm25=bm25.run",
    ),
    "data convert-weights": (
        "everycell data convert-weights downloads/ance data/models/ance",
        "everycell data convert-weights castorini/tct_colbert-msmarco data/models/tct",
    ),
    "measure count-terms": (
        "everycell measure count-terms passages.tsv --words words.txt --out a.parquet",
        "everycell measure count-terms passages.tsv --words words.txt --words mine.txt "
        "--out b.parquet",
    ),
    "measure fairness": (
        "everycell measure fairness bm25.run --counts counts.parquet --k 5 --k 10",
        "everycell measure fairness bm25.run tilde.run --counts counts.parquet --baseline bm25.run",
    ),
    "measure overlap": (
        "everycell measure overlap bm25.run swapped.run",
        "everycell measure overlap bm25.run swapped.run --p 0.9 --depth 10",
    ),
    "measure rerank": (
        "everycell measure rerank bm25.run --groups groups.csv --method fair --out fairer",
        "everycell measure rerank bm25.run --groups groups.csv --deviations sd.run "
        "--alpha 0.5 --out reranked",
    ),
    "measure compare": (
        "everycell measure compare original.run reproduced.run qrels.txt",
        "everycell measure compare original.run reproduced.run qrels.txt --measure nDCG@3",
    ),
    "measure interpolate": (
        "everycell measure interpolate bm25.run tilde.run qrels.txt",
        "everycell measure interpolate bm25.run tilde.run qrels.txt --measure AP --out tuned.run",
    ),
    "measure explain": (
        "everycell measure explain model.txt test.txt --query 10",
        "everycell measure explain model.txt test.txt --query 10 --explainer lime --plot ten",
    ),
    "measure citations": (
        "everycell measure citations answers.jsonl",
        "everycell measure citations answers.jsonl --between human,llm --format csv",
    ),
    "measure cite-check": (
        "everycell measure cite-check answers.jsonl passages.jsonl --model gpt",
        "everycell measure cite-check answers.jsonl passages.jsonl --model gpt --style spans",
    ),
    "measure satisfaction": (
        "everycell measure satisfaction predictions.jsonl",
        "everycell measure satisfaction predictions.jsonl --format json",
    ),
    "paper new": (
        "everycell paper new jones2025",
        "everycell paper new jones2025 --table table.csv --values reproduced.csv",
    ),
    "paper add-data": (
        "everycell paper add-data smith2026 bm25.run",
        "everycell paper add-data smith2026 https://example.org/bm25.run.gz --as bm25.run",
    ),
}
