"""Write docs/cost-of-scale.md from config.yaml: `python docs/make_cost_of_scale.py`."""

from importlib import import_module
from pathlib import Path

from everycell.config import Config, read_config
from everycell.language_models.requirements import FACTS, H200, cost, gpu_hours

TARGET = Path("docs/cost-of-scale.md")
#: Module of a chapter -> title, and the models of config.yaml in its table.
CHAPTERS = {
    "papers.abolghasemi2026.ch3_scale": (
        "abolghasemi2026, chapter 3: estimators of user satisfaction",
        ("zephyr", "mistral-if", "gpt-4o"),
    ),
    "papers.abolghasemi2026.ch5_scale": (
        "abolghasemi2026, chapter 5: attribution bias",
        ("llama-3-8b-instruct", "mistral-7b-instruct", "gpt-4o"),
    ),
    "papers.heuss2025.ch5_scale": (
        "heuss2025, chapter 5: citation faithfulness",
        ("command-r-plus", "llama-3-8b-instruct"),
    ),
    "papers.lajewska2025.ch5_scale": (
        "lajewska2025, chapter 5: answerability",
        ("gpt-4o", "llama-3-8b-instruct"),
    ),
    "papers.lajewska2025.ch6_scale": (
        "lajewska2025, chapter 6: responses from nuggets",
        ("gpt-5-5", "gpt-4o", "claude-haiku", "gemini-flash", "llama-3-8b-instruct"),
    ),
}
#: Corpus -> passages and, for a single download, compressed bytes, from ir_datasets 0.6.3.
CORPORA = {
    "SciDocs (BEIR)": (25_657, 142_471_588),
    "Natural Questions (BEIR)": (2_681_468, 498_307_926),
    "MS MARCO passages": (8_841_823, 1_057_717_952),
    "TREC CAsT 2019 and 2020": (38_622_444, None),
}
#: Encoder -> parameters without word embeddings, and dimensions.
ENCODERS = {"BERT-base": (85_054_464, 768), "MiniLM-L6": (10_646_784, 384)}
TOKENS = 96
#: Re-ranker of query and passage pairs -> parameters without word embeddings.
RERANKERS = {"MiniLM-L6": 10_646_784, "BERT-base": 85_054_464, "T5-base": 198_229_248}
PAIRS, PAIR = 1_000_000, 256
STEPS = " / ".join(f"{seconds * 1000:.0f} ms" for seconds in H200.steps.values())
HEAD = f"""\
# Cost of scale

Resources for a full run of each chapter: requests to language models, GPU hours, money, disk.
`python docs/make_cost_of_scale.py` generates this page from `config.yaml` and the code that sends
the requests; a test fails if they differ. For other sizes or models, change `config.yaml` and
regenerate the page.

**Nothing was run at this size.** The numbers are computed from counts, prices, and rates measured
[on one H200](#measured-on-a-gpu). Small models were measured [on two cores](#measured-on-a-cpu).

- *Requests* follow from the settings of the full tier.
- *Prompt tokens* are requests times the mean prompt length. The mean is measured on the released
  tier's records (with SmolLM2's tokenizer; a test compares them), except for lajewska2025,
  chapter 6, which has no record that can be released. There it is the estimated number of words
  times 1.35.
- *Answer tokens* are an upper bound, since every answer has the maximum length. In the record of
  abolghasemi2026, chapter 5, answers have 58 tokens on average, out of at most 128.
- *GPU hours* are for one {H200.name}, with `batch: 8` / `batch: 64`. With N parameters, reading
  takes 2 N operations per token, at {H200.reading} tera-operations per second. Writing a token of
  each answer takes {STEPS} with 8 billion parameters, and is assumed to be proportional to N.
  The hours of a 208 GB model, which needs two such GPUs, are therefore a rough estimate.
- *Money* is tokens times the `prices` in `config.yaml`, in USD, from the providers' price lists.
  Replace them with your own. The estimate that a job logs before its first request is higher: one
  token for every three bytes.
"""
MEASURED = """\
## Measured on a GPU

`python bench/gpu.py` on one NVIDIA H200 (139 GiB, with 16 cores, torch 2.11) in November 2026.
Models have random weights, and texts are random words. The plain loop has weights in bfloat16 and
large batches of sorted texts. everycell keeps weights, sums and norms in float32 and multiplies
matrices in bfloat16 (`gpu_precision`).

| BERT-base, per second | everycell, float32 | everycell, bfloat16 | plain loop |
|---|---|---|---|
| pairs of 172 word pieces scored, with tokenising | 1,400 | 5,760 | 5,953 |
| without tokenising | 1,571 | 10,452 | 11,102 |
| documents of 157 word pieces encoded, with tokenising | 1,387 | 5,904 | 5,274 |
| without tokenising | 1,627 | 15,822 | 11,986 |
| pairs of 172 word pieces in training, 96 per step | 374 | 1,753 (54.8 ms per step) | 1,773 |

Nearly half of the scoring time is spent on tokenising on the CPU. A cross-encoder trained for 300
steps on a planted task (nDCG@10 of .669 in float32; 80 lists of 100 documents) has nearly the same
rankings in bfloat16, but not the same scores: nDCG@10 changes by +.0011 on average and by up to
.067 in a single list, Kendall's tau of the two rankings is .993 on average and at least .985, and
scores change by up to .61 with a standard deviation of 2.92. With weights in bfloat16 as well,
nDCG@10 changes by up to .145. For scores closest to those of a CPU, set `gpu_precision: float32`.
We did not examine why weights in bfloat16 are not faster than everycell.

An 8B Llama in bfloat16, with prompts of 1,371 tokens, on the same kind of GPU (transformers 5.17):

| tokens per second, including prefill | everycell | plain loop | step of the plain loop |
|---|---|---|---|
| 8 requests, 32 tokens per answer | 224 | 283 | 19.4 ms |
| 64 requests, 32 tokens | 627 | 655 | 19.6 ms |
| 8 requests, 128 tokens | 133 | | |
| 64 requests, 128 tokens | 1,606 | | |

Prompts are read at 35,000 tokens per second. A step waits for the CPU to launch its kernels, so
its time hardly depends on the batch and varies with the other load of the CPU: 20 to 62 ms in
everycell, 58 ms in the third row. With 64 prompts of different lengths, which require padding, a
step took 206 ms (measured once, cause not examined; transformers 5.23, which is locked here, has
different code for padded prompts). The hours above use the slow figures.

## Measured on a CPU

`python bench/language_models_at_scale.py` measures on your machine how many answers per minute a
random Llama generates one by one and in batches, and how many passages per second an encoder of
MiniLM's size reads. One run in November 2026, on one thread of a two-core Xeon that was shared with
nine other processes:

| model | speed |
|---|---|
| Llama with 4.4 million parameters, one by one | 154 answers per minute, 82 tokens per second |
| the same, batches of 4 | 293 answers per minute (1.9 times), 156 tokens per second |
| the same, batches of 16 | 285 answers per minute (1.9 times), 152 tokens per second |
| SmolLM2, two answers of 19 and 24 tokens | 10.8 s one by one, 6.1 s together |
| encoder with 10.6 million parameters, 96 tokens | 16 passages, 32 giga-operations per second |

One busy core reached a five-thousandth of the rate of the GPU above. Hours of encoding on the GPU
are months on the core, which is why the released tier is small. Until memory is full, a batch gains
more on a GPU than on a CPU, since a single request leaves most of a GPU idle. The log of your run
has answers per minute and tokens per second after the first batch, and `records/NAME.runs.jsonl`
stores them. Compare them with the table above after an hour, and stop a run that would take too
long; it can be resumed.
"""


def render(config: Config) -> str:
    """Text of the page."""
    parts = [HEAD]
    for module, (title, models) in CHAPTERS.items():
        loads = import_module(module).full_loads(config)
        parts.append(f"## {title}\n")
        parts.append(
            _table(
                ["step", "requests per model", "prompt tokens", "answer tokens, at most"],
                [
                    [
                        load.step,
                        f"{load.requests:,}",
                        f"{load.prompt_tokens / 1e6:.2f} million",
                        f"{load.answer_tokens / 1e6:.2f} million",
                    ]
                    for load in loads
                ],
            )
        )
        parts.append("\n".join(f"- {load.step}: {load.counted}." for load in loads) + "\n")
        parts.append(
            _table(
                ["model", *(load.step for load in loads)],
                [[f"`{name}`", *(_price(config, name, load) for load in loads)] for name in models],
            )
        )
    return "\n".join([*parts, _corpora(), MEASURED])


def _price(config, name, load):
    """GPU hours, or money."""
    endpoint = config.language_models.endpoints.get(name)
    if endpoint is not None:
        return f"{cost(load, endpoint.prices):.2f} {endpoint.prices.currency}"
    facts = FACTS[config.language_models.local[name].source]
    hours = [gpu_hours(load, facts, batch=batch) for batch in (8, 64)]
    return " / ".join(f"{value:.1f} h" for value in hours)


def _hours(operations):
    """GPU hours for a number of operations."""
    return operations / (H200.encoding * 1e12) / 3600


def _corpora():
    """Disk space of corpora, hours to encode them, and hours of re-rankers."""
    rows = []
    for name, (passages, compressed) in CORPORA.items():
        row = [name, f"{passages:,}", "" if compressed is None else f"{compressed / 1e9:.2f} GB"]
        for parameters, dimensions in ENCODERS.values():
            hours = _hours(2 * parameters * TOKENS * passages)
            row += [f"{4 * dimensions * passages / 1e9:.1f} GB", f"{hours:.2f} h"]
        rows.append(row)
    heads = [part for name in ENCODERS for part in (f"vectors, {name}", f"encoding, {name}")]
    pairs = [
        [name, *(f"{_hours(factor * parameters * PAIR * PAIRS):.2f} h" for factor in (2, 6))]
        for name, parameters in RERANKERS.items()
    ]
    return "\n".join(
        [
            "## Corpora and encoders\n",
            "A flat vector index has 4 bytes per dimension and passage. Encoding takes 2 "
            f"operations per parameter and token, at {TOKENS} tokens per passage,\non the same GPU "
            f"at {H200.encoding} tera-operations per second, as measured for BERT-base; smaller "
            "models reach a lower rate.\nNumbers of passages and compressed sizes are from "
            "ir_datasets 0.6.3; uncompressed text takes about three times as much.\n",
            _table(["corpus", "passages", "compressed", *heads], rows),
            "## Re-rankers and training\n",
            "The number of pairs that a chapter scores or trains on depends on your runs,\nso the "
            f"table has hours for a million pairs of {PAIR} tokens: 2 operations per parameter and "
            "token to score, 6 to train.\n",
            _table(["model", "scoring a million pairs", "training on them"], pairs),
        ]
    )


def _table(headings, rows):
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    TARGET.write_text(render(read_config(Path("config.yaml"))), encoding="utf-8")
