# Names of the rules of lajewska2025, chapter 4.

#: Released responses of the study whose queries Table 4.3 or 4.4 lists.
CH4_RESPONSES = {"3": "answerability_data", "4": "viewpoints_data"}


#: Comments of participants. The first file has both runs, despite its name.
CH4_COMMENTS = {
    "answerability": resource(f"{LIMITATIONS}/qualitative/answerability_second_run_stats.csv"),
    "viewpoints": resource(f"{LIMITATIONS}/qualitative/viewpoints_stats.csv"),
}
FETCHED_TOGETHER[f"{LIMITATIONS}-comments"] = list(CH4_COMMENTS.values())
FETCHED_TOGETHER[f"{LIMITATIONS}-responses"] = [
    resource(f"{LIMITATIONS}/responses/{name}.csv")
    for name in (*CH4_RESPONSES.values(), "viewpoints_answer_validation")
]
