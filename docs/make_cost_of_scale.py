"""Write docs/cost-of-scale.md from config.yaml: `python docs/make_cost_of_scale.py`."""

from importlib import import_module
from pathlib import Path

from everycell.config import Config, read_config
from everycell.language_models.presets import FACTS
from everycell.language_models.scale import H200, cost, gpu_hours

TARGET = Path("docs/cost-of-scale.md")
#: Module of a chapter -> its name, and the models of config.yaml that its table is computed for.
CHAPTERS = {
    "abolghasemi2026.ch3": (
        "abolghasemi2026, chapter 3: estimators of user satisfaction",
        ("zephyr", "mistral-if"),
    ),
    "abolghasemi2026.ch5": (
        "abolghasemi2026, chapter 5: attribution bias",
        ("llama-3-8b-instruct", "mistral-7b-instruct", "gpt-4o"),
    ),
    "heuss2025.ch5": (
        "heuss2025, chapter 5: citation faithfulness",
        ("command-r-plus", "llama-3-8b-instruct"),
    ),
    "lajewska2025.ch6": (
        "lajewska2025, chapter 6: responses from nuggets",
        ("gpt-5-5", "gpt-4o", "claude-haiku", "gemini-flash", "llama-3-8b-instruct"),
    ),
}
#: Corpus -> passages and, where it is one download, its packed bytes: ir_datasets 0.6.3 has both.
CORPORA = {
    "SciDocs (BEIR)": (25_657, 142_471_588),
    "Natural Questions (BEIR)": (2_681_468, 498_307_926),
    "MS MARCO passages": (8_841_823, 1_057_717_952),
    "TREC CAsT 2019 and 2020": (38_622_444, None),
}
#: Encoder -> parameters without the table of words, and dimensions.
ENCODERS = {"BERT-base": (85_054_464, 768), "MiniLM-L6": (10_646_784, 384)}
TOKENS = 96
#: What scores pairs of a query and a passage -> parameters without the table of words.
RERANKERS = {"MiniLM-L6": 10_646_784, "BERT-base": 85_054_464, "T5-base": 198_229_248}
PAIRS, PAIR = 1_000_000, 256
STEPS = " / ".join(f"{seconds * 1000:.0f} ms" for seconds in H200.steps.values())
HEAD = f"""\
# Cost of scale

What a full run of a chapter takes: requests to language models, hours of a GPU, money, disk. Made
from `config.yaml` and the code that asks, by `python docs/make_cost_of_scale.py`; a test fails when
this file and they differ. To see other sizes or models, change `config.yaml` and make it again.

**Nothing was run at this size.** The numbers are arithmetic on counts, on prices, and on the rates
that were measured [on one H200](#measured-on-a-gpu). Small models were measured
[on two cores](#measured-on-a-cpu).

- *Requests* follow from the settings of the full tier.
- *Tokens of prompts* are requests times the mean of a prompt. That is measured on the released
  tier's records (by SmolLM2's tokenizer; a test compares), except for lajewska2025, chapter 6,
  which has no record that may be passed on: there the words of a prompt are estimated, times 1.35.
- *Tokens of answers* are an upper bound: each answer is as long as the settings allow. In the
  record of abolghasemi2026, chapter 5, answers have 58 tokens of 128 on average.
- *GPU hours* are for one {H200.name}, with `batch: 8` / `batch: 64`. With N parameters, reading
  takes 2 N operations per token, at {H200.reading} tera-operations per second. Writing a token of
  each answer takes {STEPS} with 8 billion parameters and is taken to grow with N: so the
  hours of a model of 208 GB, which takes two such GPUs, are a guess.
- *Money* is tokens times the `prices` of `config.yaml`, in USD, from the makers' lists:
  put yours there. What a job logs before it asks is higher: one token for every three bytes.
"""
MEASURED = """\
## Measured on a GPU

`python bench/gpu.py` on one NVIDIA H200 (139 GiB, with 16 cores, torch 2.11) in November 2026.
Models have random weights, texts are random words. The plain loop has weights in bfloat16 and large
batches of sorted texts. Everycell keeps weights, sums and norms in float32 and multiplies matrices
in bfloat16 (`gpu_precision`).

| BERT-base, per second | everycell, float32 | everycell, bfloat16 | plain loop |
|---|---|---|---|
| pairs of 172 word pieces scored, with tokenising | 1,400 | 5,760 | 5,953 |
| without tokenising | 1,571 | 10,452 | 11,102 |
| documents of 157 word pieces encoded, with tokenising | 1,387 | 5,904 | 5,274 |
| without tokenising | 1,627 | 15,822 | 11,986 |
| pairs of 172 word pieces in training, 96 per step | 374 | 1,753 (54.8 ms per step) | 1,773 |

So nearly half of the time of scoring goes into tokenising on the CPU. A cross-encoder that was
trained for 300 steps on a planted task (nDCG@10 of .669 in float32; 80 lists of 100 documents) has
nearly the same orders in bfloat16, not the same scores: nDCG@10 changes by +.0011 on average and by
up to .067 in a single list, Kendall's tau of the two orders is .993 on average and .985 at least,
and scores change by up to .61 with a standard deviation of 2.92. With weights in bfloat16 as well,
nDCG@10 changes by up to .145. For scores that come closest to those of a CPU set `gpu_precision:
float32`. Why rates with weights in bfloat16 are not above those of everycell was not examined.

A Llama of 8 billion parameters in bfloat16, with prompts of 1,371 tokens, on the same kind of card
(transformers 5.17):

| tokens per second, with reading | everycell | plain loop | a step of the plain loop |
|---|---|---|---|
| 8 requests, 32 tokens written for each | 224 | 283 | 19.4 ms |
| 64 requests, 32 tokens | 627 | 655 | 19.6 ms |
| 8 requests, 128 tokens | 133 | | |
| 64 requests, 128 tokens | 1,606 | | |

Prompts are read at 35,000 tokens per second. A step waits for the CPU to launch
its kernels, so its time hardly depends on the batch and varies with what else the CPU does: 20 to
62 ms in everycell, 58 ms in the third row. When the 64 prompts differ in length, so that shorter
ones are padded, a step took 206 ms (measured once, cause not examined; transformers 5.23, which is
locked here, has another code for padded prompts). The hours above take the slow figures.

## Measured on a CPU

`python bench/language_models_at_scale.py` measures, side by side on your machine, how many answers
per minute a random Llama gives one by one and in batches, and how many passages per second an
encoder of MiniLM's size reads. One run in November 2026, on one thread of a Xeon with two
cores that nine others shared:

| what | speed |
|---|---|
| Llama of 4.4 million numbers, one by one | 154 answers per minute, 82 tokens per second written |
| the same, batches of 4 | 293 answers per minute (1.9 times), 156 tokens per second written |
| the same, batches of 16 | 285 answers per minute (1.9 times), 152 tokens per second written |
| SmolLM2, two answers of 19 and 24 tokens | 10.8 s one by one, 6.1 s together |
| encoder of 10.6 million numbers, 96 tokens | 16 passages, 32 giga-operations per second |

So one busy core reached a five-thousandth of what was measured on the GPU above: hours of encoding
there are months here, which is why the released tier is small. On a GPU, where one request leaves
nearly all of it idle, a batch gains more than on a CPU, until memory is full. Your own run tells:
the log has answers per minute and tokens per second after the first batch, and
`records/NAME.runs.jsonl` keeps them. Compare with the table above after an hour, and stop a run
that would take too long: it resumes where it stopped.
"""


def render(config: Config) -> str:
    """Text of the page."""
    parts = [HEAD]
    for module, (title, models) in CHAPTERS.items():
        loads = import_module(f"everycell.studies.{module}.scale").full_loads(config)
        parts.append(f"## {title}\n")
        parts.append(
            _table(
                ["step", "requests to a model", "tokens of prompts", "of answers, at most"],
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
                ["if asked of", *(load.step for load in loads)],
                [[f"`{name}`", *(_price(config, name, load) for load in loads)] for name in models],
            )
        )
    return "\n".join([*parts, _corpora(), MEASURED])


def _price(config, name, load):
    """Hours of a GPU, or money."""
    endpoint = config.language_models.endpoints.get(name)
    if endpoint is not None:
        return f"{cost(load, endpoint.prices):.2f} {endpoint.prices.currency}"
    facts = FACTS[config.language_models.local[name].source]
    hours = [gpu_hours(load, facts, batch=batch) for batch in (8, 64)]
    return " / ".join(f"{each:.1f} h" for each in hours)


def _hours(operations):
    """Hours of the GPU for so many operations."""
    return operations / (H200.encoding * 1e12) / 3600


def _corpora():
    """Disk of corpora, hours to encode them, and hours of what scores pairs."""
    rows = []
    for name, (passages, packed) in CORPORA.items():
        row = [name, f"{passages:,}", "" if packed is None else f"{packed / 1e9:.2f} GB"]
        for parameters, dimensions in ENCODERS.values():
            hours = _hours(2 * parameters * TOKENS * passages)
            row += [f"{4 * dimensions * passages / 1e9:.1f} GB", f"{hours:.2f} h"]
        rows.append(row)
    heads = [part for name in ENCODERS for part in (f"vectors, {name}", f"encoding, {name}")]
    pairs = [
        [name, *(f"{_hours(each * parameters * PAIR * PAIRS):.2f} h" for each in (2, 6))]
        for name, parameters in RERANKERS.items()
    ]
    return "\n".join(
        [
            "## Corpora and encoders\n",
            "A flat index of vectors has 4 bytes per dimension and passage. Encoding takes 2 "
            f"operations per parameter and token, at {TOKENS} tokens per passage,\non the same GPU "
            f"at {H200.encoding} tera-operations per second, as measured for BERT-base; smaller "
            "models reach fewer.\nPassages and packed sizes are those of ir_datasets 0.6.3; "
            "unpacked text takes about three times as much.\n",
            _table(["corpus", "passages", "packed", *heads], rows),
            "## Re-rankers and training\n",
            "How many pairs of a query and a passage a chapter scores or trains on depends on the "
            "runs that you name,\nso here are the hours for a million pairs of "
            f"{PAIR} tokens: 2 operations per parameter and token to score, 6 to train.\n",
            _table(["model", "a million pairs scored", "trained on"], pairs),
        ]
    )


def _table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    TARGET.write_text(render(read_config(Path("config.yaml"))), encoding="utf-8")
