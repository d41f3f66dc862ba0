# lajewska2025, chapter 5: language models that are asked whether passages answer a question.


include: "ch5_asking_inputs.smk"


# Labels of test passages and of their sets of three, by a language model.
use rule asking_step as lajewska2025_ch5_ask with:
    input:
        **{part: resource(ANSWERABILITY_FILES[part]) for part in ("snippets", "unanswerable")},
        model=lambda wildcards: language_model_files(wildcards.model),
        passage_template="workflow/papers/lajewska2025/ch5_asked_passage.txt",
        ranking_template="workflow/papers/lajewska2025/ch5_asked_ranking.txt",
        examples_template="workflow/papers/lajewska2025/ch5_asked_ranking_examples.txt",
    output:
        answers="work/answerability/asked/{model}.parquet",
        provenance="work/answerability/asked/{model}.provenance.json",
    pathvars:
        job="answerability/asked/{model}",
    wildcard_constraints:
        model="[^/.]+",
    resources:
        **asking(),
    params:
        **runs("lajewska2025/ch5_asking:ask"),
        model="{model}",
        answered_by=lambda wildcards: answered_by(wildcards.model),
        questions=PROMPTED.questions,
        decoding={"max_tokens": PROMPTED.max_tokens, "temperature": 0.0},
        record="lajewska2025-ch5-{model}",
    message:
        "Asking {wildcards.model} whether passages answer a question"


# Text 5.7: accuracy of these labels.
use rule table as lajewska2025_ch5_asked with:
    input:
        answers=prompted_answers("parquet"),
        provenance=prompted_answers("provenance.json"),
    pathvars:
        result="full/lajewska2025/text_5_7",
    resources:
        **needs(800),
    params:
        **runs("lajewska2025/ch5_asking:prompted_accuracy"),
        names=list(PROMPTED.models.values()),
        thresholds=CHATGPT_THRESHOLDS,
    message:
        "Accuracy of language models that detect answerability (Text 5.7)"
