# Verdicts on cells, outcomes of claims, and errata.


include: "verdicts_inputs.smk"


use rule step as verdicts with:
    input:
        table="results/{tier}/{paper}/{artefact}.csv",
        receipt="results/{tier}/{paper}/{artefact}.receipt.json",
        record=records_file,
        cells=published_cells,
        supplements=receipts_of_supplements,
        identities=identities,
    output:
        verdicts="results/{tier}/{paper}/{artefact}.verdicts.json",
    pathvars:
        job="verdicts/{tier}/{paper}/{artefact}",
    wildcard_constraints:
        tier="|".join(TIERS),
        artefact=r"(table|figure|text)_\w+",
    params:
        **runs("verdicts"),
        audits=code_of_audits,
        notes=notes_on_materials,
    message:
        "Verdicts of {wildcards.paper} {wildcards.artefact} ({wildcards.tier})"


# Compare a corpus of the full tier with the facts that identify it.
use rule step as identity with:
    input:
        files_with_facts,
    output:
        identity="work/identity/{material}.json",
    pathvars:
        job="identity/{material}",
    resources:
        **needs(2000, 30),
    params:
        **runs("identity"),
        title=lambda wildcards: FULL_TIER.materials[wildcards.material].title,
        facts=facts_of_material,
    message:
        "Identifying {wildcards.material}"


# All errata, with the results of their audits of published values.
use rule table as errata with:
    input:
        published=published(),
    pathvars:
        result="embedded/errata",
    params:
        **runs("errata"),
        audits=code_of_all_audits,
    message:
        "Checking errata against published values"
