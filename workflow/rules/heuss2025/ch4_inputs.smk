# Names of the rules of heuss2025, chapter 4.
from everycell.studies.heuss2025.ch4.talent_search import OF_CANDIDATES, OF_LISTS

#: Printed inputs of the talent search.
TALENT_SEARCH = {
    "candidates": "published/heuss2025/table_4_A_1.csv",
    "universities": "published/heuss2025/table_4_A_2.csv",
}
