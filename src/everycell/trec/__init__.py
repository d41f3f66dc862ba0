"""Files of the TREC formats as data frames.

Two kinds of text file, one line per row, fields separated by spaces or tabs, UTF-8, gzipped if
the name ends in ``.gz``:

=============  =====================================  ==================================
kind           fields of a line                       columns of the frame
=============  =====================================  ==================================
run            query, Q0, document, rank, score, tag  query, document, score (float64)
qrels          query, 0, document, relevance          query, document, relevance (int32)
=============  =====================================  ==================================

Ids are text.
"""
