"""Names of measures as papers and trec_eval write them."""

import pytest

from everycell.cli.measure_names import measure_of


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("nDCG@10", "nDCG@10"),
        ("map", "AP"),
        ("P_10", "P@10"),
        ("P.10", "P@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("recip_rank", "RR"),
        ("recall_100", "R@100"),
        ("Rprec", "Rprec"),
        ("ndcg", "nDCG"),
        ("NDCG@10", "NDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("Recall@1k", "R@1000"),
        ("R@1K", "R@1000"),
        ("Prec@5", "P@5"),
        ("Hit@1", "Success@1"),
        ("mrr_at_10", "RR@10"),
        ("mrr_10", "RR@10"),
        ("recall @ 10", "R@10"),
        ("recip_rank_10", "RR@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("recall_at_100", "R@100"),
        ("Recall at 1k", "R@1000"),
        # A family, measures without a cut-off, and no measures.
        *(
            (name, None)
            for name in (
                "ndcg_cut",
                "official",
                "p",
                "R",
                "F1",
                "DL 2019",
                "",
                "@10",
                "R-1",
                "_at_10",
                "mrr_at_",
                "mrr_at_x",
            )
        ),
    ],
)
def test_measure_of(name, measure):
    assert measure_of(name) == measure


@pytest.mark.parametrize("text", ["-", "MAP (", "(", "a.", "[", "not ", "1+", "P@5 "])
@pytest.mark.parametrize("number", [20, 99, 190, 5000, 40000])
def test_measure_of_long_name(text, number):
    assert measure_of(text * number) is None
