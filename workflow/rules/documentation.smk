# The documentation site, and rule graphs.


include: "documentation_inputs.smk"


#: Targets with a rule graph.
GRAPHS = ["all", *(target for target in TARGETS if "_ch" in target and TARGETS[target])]


# Dependencies between rules, for the complete workflow or one chapter.
use rule step as rulegraph with:
    input:
        rules=[
            "Snakefile",
            "config.yaml",
            *files_below("workflow/papers", ".smk"),
            *files_below("workflow/rules", ".smk"),
            *files_below("src/everycell/workflow/rules", ".smk"),
        ],
        published=published(),
    output:
        graph="results/rulegraphs/{target}.svg",
    pathvars:
        job="rulegraphs/{target}",
    wildcard_constraints:
        target="|".join(GRAPHS),
    conda:
        environment("docs")
    resources:
        **needs(600),
    params:
        **runs("rulegraph"),
    message:
        "Drawing the rule graph of {wildcards.target}"


# Pages, records, existing results, rule graphs and docstrings as one site.
rule site:
    input:
        pages=[
            *("mkdocs.yml", "README.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff"),
            *files_below("docs"),
            *files_below("src", ".py"),
            "workflow/schemas/config.schema.json",
        ],
        published=published(),
        graphs=expand("results/rulegraphs/{target}.svg", target=GRAPHS),
    output:
        site=directory("results/site"),
    log:
        "logs/site.log",
    benchmark:
        "benchmarks/site.tsv"
    conda:
        environment("docs")
    resources:
        **needs(1000, 10),
    params:
        # Results are not inputs, since outdated inputs would be reproduced. The site shows the
        # existing results, and is rebuilt when they change.
        results=hash_of_shown_results,
    message:
        "Building the site results/site"
    # A conda environment has the dependencies of the library, but not the library.
    shell:
        "export PYTHONPATH=src NO_MKDOCS_2_WARNING=1; "
        "python docs/check_numbers.py 2> {log} && "
        "python -m mkdocs build --strict --site-dir {output.site} 2>> {log} && "
        "python docs/check_links.py {output.site} 2>> {log}"


# Screenshots of the reproduction page for the README; `docs/images` has copies.
use rule step as page_pictures with:
    input:
        page="results/index.html",
    output:
        light="results/pictures/page-light.png",
        dark="results/pictures/page-dark.png",
    pathvars:
        job="page_pictures",
    conda:
        environment("docs")
    resources:
        **needs(1000),
    params:
        **runs("page_pictures"),
    message:
        "Screenshots of the page in light and dark mode"
