"""Table 4.A.3: ranks of the candidates under the biased ranker."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.heuss2025.ch4.attributions import ranks_in_queries
from everycell.studies.heuss2025.ch4.talent_search import TalentModel, candidates, universities

with ResultJob(snakemake) as job:
    schools = universities(job.input_cells("heuss2025/table_4_A_2"))
    people = candidates(job.input_cells("heuss2025/table_4_A_1"), schools)
    ranks_by_ranker = {
        name: ranks_in_queries(TalentModel(schools, biased=biased), people)
        for name, biased in (("biased", True), ("unbiased", False))
    }
    job.write_table(ranks_by_ranker["biased"])
    job.write_supplement(
        pd.concat([ranks.assign(ranker=name) for name, ranks in ranks_by_ranker.items()])[
            ["row", "ranker", "query", "value"]
        ],
        "rankers",
        {"all": 0},
    )
