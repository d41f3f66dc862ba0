"""`everycell measure explain`: attribute a model's ranking of a query to features."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import pandas as pd
import typer

from everycell.cli.named_files import Input, Output
from everycell.cli.options import Format, Seed
from everycell.cli.printing import output_console, print_for_programs, print_frame
from everycell.records.cells import RecordError

if TYPE_CHECKING:
    from everycell.explain.forests import Forest


def columns_of_model(
    path: Path, table: pd.DataFrame, forest: Forest, first: int | None
) -> tuple[pd.DataFrame, int]:
    """Judged features with a column per feature of the model, and the first feature's number.

    The number is that in the file: 0 or 1.
    """
    from everycell.explain.forests import first_number

    columns = len(forest.names)
    if first is None:
        values = table.iloc[:, 2:].to_numpy(dtype=float)
        try:
            first = first_number(values, columns, forest.infos)
        except ValueError as error:
            raise RecordError(f"{path}: {error}.") from None
    if first is None:
        raise RecordError(
            f"{path}: its features may be numbered from 0 or from 1; use --numbered-from 0 if "
            "LightGBM read such a file in training, or --numbered-from 1 if feature 1 is the "
            "first column."
        )
    names = [f"feature_{number}" for number in range(first, first + columns)]
    for name in table.columns[2:].difference(names, sort=False):
        if table[name].any():
            row = int((table[name] != 0).argmax()) + 1
            raise RecordError(
                f"{path}: document {row} has {name.replace('_', ' ')}, expected features {first} "
                f"to {first + columns - 1}."
            )
    return table[["query", "relevance"]].join(table.reindex(columns=names, fill_value=0.0)), first


def explain(
    model: Annotated[
        Path, typer.Argument(help="LightGBM model, as `save_model` writes it."), Input(("forest",))
    ],
    data: Annotated[
        Path,
        typer.Argument(help="Judged features: lines such as '2 qid:10 1:0.03 2:0.1'."),
        Input(("features",)),
    ],
    query: Annotated[str, typer.Option(help="Query whose ranking to explain.")],
    explainer: Annotated[
        Literal["shapley", "kernel", "greedy", "pointwise", "sharp", "lime", "pointwise-lime"],
        typer.Option(help="How to explain; docs/explaining-rankings.md compares them."),
    ] = "shapley",
    objective: Annotated[
        Literal["kendall", "weighted", "rank", "exposure"],
        typer.Option(help="What to explain: the order of the list, or the rank of a document."),
    ] = "kendall",
    document: Annotated[
        int | None,
        typer.Option(help="For rank and exposure: row of the document among the query's, from 1."),
    ] = None,
    background: Annotated[
        Path | None,
        typer.Option(help="Background documents, as in DATA; default: other queries of DATA."),
        Input(("features",)),
    ] = None,
    samples: Annotated[int, typer.Option(help="Number of background documents.", min=1)] = 100,
    numbered_from: Annotated[
        int | None,
        typer.Option(
            help="Number of the model's first feature in DATA, if it is ambiguous.", min=0, max=1
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="shapley: standard error at which sampling stops.")
    ] = 0.01,
    permutations: Annotated[
        int, typer.Option(help="shapley: maximum number of pairs of permutations.", min=2)
    ] = 500,
    seed: Seed = 0,
    plot: Annotated[
        Path | None,
        typer.Option(help="Path of the plot, without .svg, .pdf and .png."),
        Output((".svg", ".pdf", ".png")),
    ] = None,
    form: Format = "table",
) -> None:
    """Attribute a ranking to features (RankingSHAP); only `shapley` gives standard errors."""
    import numpy as np

    from everycell.collections.letor import read_letor
    from everycell.explain.attributed_lists import (
        DOCUMENT_OBJECTIVES,
        EXPLAINERS,
        EXPLAINERS_WITH_OBJECTIVE,
        Sampling,
        attributed_list,
        attribution_plot,
    )
    from everycell.explain.explainers import ExplainedList
    from everycell.explain.forests import read_forest
    from everycell.render.figure_files import save_figure

    if objective != "kendall" and explainer not in EXPLAINERS_WITH_OBJECTIVE:
        raise RecordError(f"The explainer {explainer} has its own objective; remove --objective.")
    if (objective in DOCUMENT_OBJECTIVES) != (document is not None):
        verb = "needs" if document is None else "does not use"
        raise RecordError(f"The objective {objective} {verb} --document.")
    forest = read_forest(model)
    table, first = columns_of_model(data, read_letor(data, first=0), forest, numbered_from)
    is_of_query = table["query"] == query
    if not is_of_query.any():
        queries = ", ".join(table["query"].unique()[:5])
        raise RecordError(
            f"{data} does not contain query {query}; its first queries are {queries}."
        )
    if background is None:
        pool_rows = table[~is_of_query]
    else:
        pool_rows, _ = columns_of_model(background, read_letor(background, first=0), forest, first)
    if len(pool_rows) < samples:
        raise RecordError(
            f"{background or data} has {len(pool_rows)} documents for the background, but "
            f"--samples is {samples}; lower it, or give a larger --background."
        )
    vectors = table[is_of_query].iloc[:, 2:].to_numpy(dtype=float)
    if document is not None and not 1 <= document <= len(vectors):
        raise RecordError(
            f"Query {query} has {len(vectors)} documents; --document must be from 1 to "
            f"{len(vectors)}."
        )
    rng = np.random.default_rng(seed)
    pool = pool_rows.iloc[:, 2:].to_numpy(dtype=float)
    sample = pool[rng.choice(len(pool), samples, replace=False)]
    attributions = attributed_list(
        ExplainedList(forest, vectors, sample),
        explainer=explainer,
        objective=objective,
        document=(document or 1) - 1,
        sampling=Sampling(tolerance=tolerance, permutations=permutations),
        rng=rng,
    )
    if plot is not None:
        label = objective if explainer in EXPLAINERS_WITH_OBJECTIVE else explainer
        save_figure(attribution_plot(attributions, f"Attribution ({label})"), plot)
    if form != "table":
        settings = {
            "query": query,
            "documents": len(vectors),
            "explainer": explainer,
            "objective": objective if explainer in EXPLAINERS_WITH_OBJECTIVE else None,
            "document": document,
            "background": samples,
            "seed": seed,
            "numbered_from": first,
        }
        print_for_programs(attributions, form, {"settings": settings})
        return
    console = output_console()
    console.print(
        f"{EXPLAINERS[explainer]}; {len(vectors)} documents of query {query}; "
        f"the first column is feature {first} of the file."
    )
    print_frame(console, attributions)
    largest = attributions["error"].max()
    if largest > tolerance:
        console.print(
            f"The largest standard error is {largest:.3f}, above {tolerance:g}: raise "
            "--permutations."
        )
