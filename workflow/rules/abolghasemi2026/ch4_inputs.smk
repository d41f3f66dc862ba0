# Input functions and names of the rules of abolghasemi2026, chapter 4.
#: Rankers of the NFaiRR authors -> registry keys of their runs.
DL19_RUNS = {
    name: f"gender-bias-ir/fairr/runs-dl19-top100/{file}.run"
    for name, file in {
        "BM25": "BM25",
        "BM25+RM3": "RM3",
        "KNRM": "knrm",
        "Conv-KNRM": "conv_knrm",
        "MatchPyramid": "match_pyramid",
        "TK": "tk",
        "BERT L2": "bert_L2",
        "BERT L4": "bert_L4",
        "AdvBert L2": "advbert_L2",
        "AdvBert L4": "advbert_L4",
    }.items()
}
#: Judgements that go with them.
DL19_QRELS = "gender-bias-ir/fairr/qrels.dl19-passage.txt"
FETCHED_TOGETHER["gender-bias-ir-runs"] = [
    resource(key) for key in (*DL19_RUNS.values(), DL19_QRELS)
]
