# Names of the rules of heuss2025, chapter 5.
CITED = SETTINGS.citation_faithfulness

#: What is the same of all answerers of the control.
READERS_BEHAVIOUR = {"matching": CITED.matching, "steady": CITED.steady}
