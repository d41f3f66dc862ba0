"""BM25's best documents by cross-encoders, each query by the one that saw nothing of its topic."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.learning.cross_encoder import score_pairs
from everycell.learning.models import device, load_model, one_thread
from everycell.learning.text_pairs import PairLength
from everycell.trec.runs import read_run, trec_order, write_run

with Job(snakemake) as job:
    one_thread()
    texts = {}
    for part, key in (("queries", "query_id"), ("documents", "document_id")):
        frame = pd.read_parquet(snakemake.input[part])
        texts[part] = dict(zip(frame[key], frame["text"], strict=True))
    first = trec_order(read_run(snakemake.input.run)).groupby("query").head(snakemake.params.depth)
    runs = []
    for folder, fold in zip(snakemake.input.models, snakemake.input.folds, strict=True):
        held_out = pd.read_parquet(fold).query("split == 'test'")["query_id"]
        # A collection that no model was trained on is ranked by the first one alone.
        own = first["query"].isin(held_out) if snakemake.params.cross_fitted else first.index >= 0
        pairs = first.loc[own, ["query", "document"]]
        model, tokenizer = load_model(Path(folder), "classifier")
        scores = score_pairs(
            model.to(device()),
            tokenizer,
            texts["queries"],
            texts["documents"],
            list(pairs.itertuples(index=False, name=None)),
            PairLength(**snakemake.params.pair_length),
        )
        runs.append(pairs.assign(score=scores))
    out = Path(snakemake.output.run)
    write_run(pd.concat(runs).sort_index(), out, tag=out.stem)
