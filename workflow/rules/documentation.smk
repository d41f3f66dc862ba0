# The documentation as a site, and pictures of the rules.


include: "documentation_inputs.smk"


#: Targets whose rules are drawn.
GRAPHS = ["all", *(target for target in TARGETS if "_ch" in target and TARGETS[target])]


# Which rule takes its files from which, for the whole workflow or one chapter.
use rule step as rulegraph with:
    input:
        rules=[
            "Snakefile",
            "config.yaml",
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
        "Drawing the rules of {wildcards.target}"


# Pages, cards, results on disk, rules and the library's docstrings as one site.
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
        # No inputs, which would be made again where they are out of date: a site shows what was made
        # before it, and is built again when that differs.
        results=hash_of_shown_results,
    message:
        "Building the site results/site"
    # A conda environment has all that the library needs, but not the library.
    shell:
        "export PYTHONPATH=src NO_MKDOCS_2_WARNING=1; "
        "python docs/check_numbers.py 2> {log} && "
        "python -m mkdocs build --strict --site-dir {output.site} 2>> {log} && "
        "python docs/check_links.py {output.site} 2>> {log}"


# What the first screen of the page looks like, for the README: `docs/images` holds copies.
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
        "Pictures of the page, light and dark"
