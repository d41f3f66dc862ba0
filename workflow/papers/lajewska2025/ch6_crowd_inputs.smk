# Inputs and names of the rules of lajewska2025, ch6_crowd.smk.

#: The simulated crowd study.
PLANTED_STUDY = GINGER.crowd.model_dump(exclude={"studies"})

#: The simulated responses.
PLANTED_RESPONSES = GINGER.planted.model_dump(exclude={"studies"})


def votes_of_the_user(wildcards):
    """Answers of crowd workers."""
    return str(
        named_by_user(
            "ginger.full.votes",
            "the answers of a crowd study",
            "grounded-responses.md",
            kind="file",
        )
    )
