"""Edited published cells of sakai2023 that change the findings of its audits."""

from truth.audit_cases.edits import Edit

#: Published values that would remove an inconsistency.
MENDED: dict[str, list[Edit]] = {
    "audit_sakai2023_table_1_gains": [
        (
            "table_1",
            {"system": "Bing", "entity": "Back to the Future", "metric": "pw_g"},
            "1.9456",
        )
    ],
    # A larger gain makes the share 9.8 %.
    "audit_sakai2023_share_of_rounded_scores": [
        ("table_1", {"system": "Google", "entity": "Interstellar", "metric": "pw_g"}, "0.2794")
    ],
}

#: A gain that is not half of the one in the text: the audit must not call it doubled.
OTHER_FAULTS: dict[str, list[Edit]] = {
    "audit_sakai2023_table_1_gains": [
        (
            "table_1",
            {"system": "Bing", "entity": "Back to the Future", "metric": "pw_g"},
            "0.9000",
        )
    ],
}

#: A wrong digit that a consistency must notice.
BROKEN: dict[str, Edit] = {
    "check_sakai2023_relevance_from_gains": ("table_1", {"value": "0.0143"}, "0.0134"),
    "check_sakai2023_fairness_share": ("table_2", {"value": "0.4493"}, "0.4439"),
    "check_sakai2023_fairness_means": ("table_2", {"value": "0.4493"}, "0.4495"),
}
