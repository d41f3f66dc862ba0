include: "page_inputs.smk"


localrules:
    page,


# An overview page, a static page per chapter, all cells and claims as data, and the lineage of the
# results.
use rule step as page with:
    input:
        verdicts=shown_verdicts,
        published=published(),
        sensitivity=sensitivity_of_cells(),
    output:
        # With `update`, Snakemake does not delete the files before the job: the last page remains
        # if the job fails, and the lineage keeps jobs that Snakemake no longer records.
        page=update(ensure("results/index.html", non_empty=True)),
        chapters=update(ensure(pages_of_chapters(), non_empty=True)),
        data=update(
            ensure(
                [
                    "results/cells.csv",
                    "results/cells.parquet",
                    "results/claims.csv",
                    "results/excluded_claims.csv",
                    "results/badge.svg",
                ],
                non_empty=True,
            )
        ),
        lineage=update(ensure("results/lineage.json", non_empty=True)),
    pathvars:
        job="page",
    resources:
        **needs(500),
    params:
        **runs("page"),
        audits=code_of_all_audits,
    message:
        "Writing the page results/index.html"
