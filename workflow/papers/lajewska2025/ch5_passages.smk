# lajewska2025, chapter 5: choice of the passages that are annotated.


# Text 5.4.1 on planted passages: what clustering adds to the choice.
use rule table as lajewska2025_ch5_planted_choice with:
    pathvars:
        result="embedded/lajewska2025/text_5_4_1",
    params:
        **runs("lajewska2025/ch5_passages:planted_choice"),
        **SETTINGS.annotated_passages.model_dump(),
        seed=SETTINGS.seed,
    message:
        "Choice of passages by clusters (Text 5.4.1)"


# Text 5.4.1: levels of relevance of the passages that the authors chose from CAsT'20.
use rule table as lajewska2025_ch5_released_choice with:
    input:
        snippets=resource(ANSWERABILITY_FILES["snippets"]),
        qrels=resource("cast-reproducibility/qrels/2020.txt"),
    pathvars:
        result="released/lajewska2025/text_5_4_1",
    params:
        **runs("lajewska2025/ch5_passages:released_choice"),
        size=SETTINGS.annotated_passages.size,
    message:
        "Relevance of the chosen passages (Text 5.4.1)"
