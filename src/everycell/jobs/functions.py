"""Run a function of a chapter, such as ``KEY/ch2:means``, as the job of a rule."""

from __future__ import annotations

from typing import Any, get_type_hints

from everycell.records.folders import papers_module


def call_function(snakemake: Any) -> None:
    """Call the function of the parameter `script` in the context that it declares.

    ``def means(job: ResultJob)`` makes a result with a receipt, ``def train(job: Job)`` an
    intermediate file. The declaration decides, since an intermediate job must not depend on the
    code that writes results.
    """
    module, _, name = snakemake.params["script"].partition(":")
    function = getattr(papers_module(f"papers.{module.replace('/', '.')}"), name)
    with get_type_hints(function)["job"](snakemake) as job:
        function(job)
