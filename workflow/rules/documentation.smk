# The documentation as a site, and pictures of the rules.


#: Targets whose rules are drawn.
GRAPHS = ["all", *(target for target in TARGETS if "_ch" in target and TARGETS[target])]


# Which rule takes its files from which, for the whole workflow or one chapter.
rule rulegraph:
    input:
        rules=["Snakefile", "config.yaml", *files_below("workflow/rules", ".smk")],
        published=published(),
    output:
        graph="results/rulegraphs/{target}.svg",
    log:
        "logs/rulegraphs/{target}.log",
    benchmark:
        "benchmarks/rulegraphs/{target}.tsv"
    wildcard_constraints:
        target="|".join(GRAPHS),
    conda:
        environment("docs")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        code=code_of("rulegraph"),
    message:
        "Drawing the rules of {wildcards.target}"
    script:
        script_file("rulegraph")


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
        mem_mb=memory(1000),
        runtime=10,
    params:
        # No inputs, which would be made again where they are out of date: a site shows what was made
        # before it, and is built anew when that is another.
        results=hash_of_shown_results,
    message:
        "Building the site results/site"
    # A conda environment has all that the library needs, but not the library.
    shell:
        "export PYTHONPATH=src NO_MKDOCS_2_WARNING=1; "
        "python -m mkdocs build --strict --site-dir {output.site} 2> {log} && "
        "python docs/check_links.py {output.site} 2>> {log}"


# The report shows the code of a rule only where its script is named without a parameter.
for each in workflow.rules:
    if each.script == SCRIPT:
        each.script = SCRIPT.format(params=each.params)
