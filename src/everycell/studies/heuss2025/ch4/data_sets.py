"""Data sets of Figure 4.4 and their features."""

from __future__ import annotations

#: Tier -> data set -> its name in Figure 4.4.
EXPLAINED_DATA = {
    "embedded": {"planted": "Planted", "pydocs": "pydocs"},
    "released": {"mq2008_fold1": "MQ2008", "mslr_slice": "MSLR slice (surrogate data)"},
    "full": {"mq2008": "MQ2008", "mslr_web10k": "MSLR-WEB10K"},
}
#: Feature of pydocs candidates -> run whose scores it has.
RUNS_OF_FEATURES = {
    "BM25, words": "bm25.SA",
    "BM25, stems": "bm25.STM2",
    "BM25, word pieces": "bm25.BERT-Token",
    "JM language model, stems": "lm.STM2",
    "Dirichlet language model, stems": "lm-dirichlet.STM2",
    "SPLADE": "splade.splade-tiny.zero-shot",
}
#: Data set -> number of features.
LETOR_FEATURES = {
    "mq2008": 46,
    "mq2008_fold1": 46,
    "mslr_slice": 136,
    "mslr_web10k": 136,
}
