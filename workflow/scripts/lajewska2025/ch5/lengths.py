"""Table 5.4: length and number of the snippets of the data set.

A token is what stands between white space. The released text of a snippet lacks every character
that is not ASCII, so that such a sign between blanks is no token of it.
"""

import pandas as pd

from everycell.collections.snippet_files import read_annotations
from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.annotations import PER_PASSAGE, paths

ROW = "CAsT-snippets"


def tokens(texts: pd.Series) -> int:
    """Tokens of all snippets of all annotations."""
    return sum(len(snippet.split()) for snippets in texts for snippet in snippets)


with ResultJob(snakemake) as job:
    found = read_annotations(paths(snakemake.input.dataset), per_text=PER_PASSAGE)
    snippets = int(found["spans"].map(len).sum())
    marking = int((found["spans"].map(len) > 0).sum())
    marked = pd.Series(
        [
            [text[start:end] for start, end in spans]
            for text, spans in zip(found["text"], found["spans"], strict=True)
        ]
    )
    of_texts = {"released text": tokens(found["snippets"]), "marked characters": tokens(marked)}
    rows = [
        (ROW, "avg_snippet_length_tokens", of_texts["released text"] / snippets),
        (ROW, "snippets_per_annotation", snippets / len(found)),
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
    divisors = {
        "a snippet": snippets,
        "an annotation with snippets": marking,
        "an annotation": len(found),
    }
    readings = [
        (text, per, "tokens", number / divisor)
        for text, number in of_texts.items()
        for per, divisor in divisors.items()
    ]
    job.write_beside(
        pd.DataFrame(readings, columns=["text", "per", "metric", "value"]),
        "readings",
        {"tokens": 2},
    )
