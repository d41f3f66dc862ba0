"""Files in TREC formats as data frames.

Runs and qrels are UTF-8 text files with one row per line and fields separated by spaces or tabs;
they are gzipped if the name ends in ``.gz``:

=============  =====================================  ==================================
kind           fields of a line                       columns of the frame
=============  =====================================  ==================================
run            query, Q0, document, rank, score, tag  query, document, score (float64)
qrels          query, 0, document, relevance          query, document, relevance (int32)
=============  =====================================  ==================================

Query and document ids are strings.
"""
