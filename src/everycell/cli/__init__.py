"""Command line: what the workflow rebuilt, the checks that CI runs, measures of other runs."""

from __future__ import annotations

import typer

from everycell.cli import (
    checks,
    citing,
    converting,
    explaining,
    machine,
    measures,
    reranking,
    results,
    sheets,
)

app = typer.Typer(
    help="Look at what the workflow rebuilt. Run it in the project folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# In the order of the help.
for _name, _command in {
    "list": results.list_,
    "show": results.show,
    "verify": checks.verify,
    "diff": checks.diff,
    "crate": checks.crate,
    "doctor": machine.doctor,
    "page": results.page,
    "summary": results.summary,
    "check-verdicts": checks.check_verdicts,
    "fetch": machine.fetch,
    "fetch-corpus": converting.fetch_corpus,
    "convert-corpus": converting.convert_corpus,
    "convert-weights": converting.convert_weights,
    "count-terms": measures.count_terms_,
    "fairness": measures.fairness,
    "overlap": measures.overlap,
    "compare": measures.compare,
    "rerank-fair": reranking.rerank_fair,
    "explain": explaining.explain,
    "cite-check": citing.cite_check,
}.items():
    app.command(_name)(_command)
app.add_typer(sheets.annotation, name="annotation")
