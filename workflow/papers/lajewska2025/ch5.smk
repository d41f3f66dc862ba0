# lajewska2025, chapter 5: snippets of passages that answer a question, and answerability.
# Annotations of CAsT-snippets -> agreement of annotators; labels of CAsT-answerability -> counts
# and accuracy; labelled sentences -> classifiers -> passages and rankings.


include: "ch5_inputs.smk"


# Table 5.1: time, workers and cost per passage, as far as the released logs allow.
use rule table as lajewska2025_ch5_tasks with:
    input:
        **annotations(
            "paragraph_regular",
            "paragraph_master",
            "paragraph_prolific",
            "paragraph_expert",
            "sentence_regular",
            "sentence_master",
            "selection_regular",
            "selection_master",
        ),
    output:
        **table_files(tables=["readings", "flags"]),
    pathvars:
        result="released/lajewska2025/table_5_1",
    params:
        **runs("lajewska2025/ch5:tasks"),
        # Fees of MTurk on top of a reward: 20 percent, and 5 more for master workers.
        fees={"MTurk regular": 0.20, "MTurk master": 0.25},
    message:
        "Time and cost of annotating (Table 5.1)"


# Table 5.2: agreement within each group of annotators.
use rule table as lajewska2025_ch5_agreement with:
    input:
        **annotations(
            "paragraph_regular",
            "paragraph_master",
            "paragraph_prolific",
            "paragraph_expert",
            "sentence_regular",
            "sentence_master",
        ),
    output:
        **table_files(tables=["gaps", "chance"]),
    pathvars:
        result="released/lajewska2025/table_5_2",
    params:
        **runs("lajewska2025/ch5:agreement"),
    message:
        "Agreement of annotators (Table 5.2)"


# Table 5.3: each group compared with the experts; Table C.3 repeats two of the means.
use rule table as lajewska2025_ch5_similarity with:
    input:
        **annotations(
            "paragraph_regular",
            "paragraph_master",
            "paragraph_prolific",
            "paragraph_expert",
            "sentence_regular",
            "sentence_master",
        ),
    output:
        **table_files(tables=["sentences"]),
        **table_files("released/lajewska2025/table_C_3"),
    pathvars:
        result="released/lajewska2025/table_5_3",
    params:
        **runs("lajewska2025/ch5:similarity"),
        # Table C.3: row -> group.
        workers={
            "MTurk master workers": "MTurk master",
            "MTurk regular workers": "MTurk regular",
        },
    message:
        "Workers compared with experts (Table 5.3)"


# Table 5.4: lengths of snippets.
use rule table as lajewska2025_ch5_lengths with:
    input:
        **annotations("dataset"),
    output:
        **table_files(tables=["readings"]),
    pathvars:
        result="released/lajewska2025/table_5_4",
    params:
        **runs("lajewska2025/ch5:lengths"),
    message:
        "Lengths of snippets (Table 5.4)"


# Section 5.4: numbers in the text.
use rule table as lajewska2025_ch5_text with:
    input:
        **annotations(
            "dataset",
            "paragraph_regular",
            "paragraph_master",
            "paragraph_prolific",
            "paragraph_expert",
        ),
    output:
        **table_files(tables=["whole"]),
    pathvars:
        result="released/lajewska2025/text_5_4",
    params:
        **runs("lajewska2025/ch5:text"),
    message:
        "Numbers in the text of section 5.4"


# Section 5.4.3: confidence and agreement.
use rule table as lajewska2025_ch5_confidence with:
    input:
        **annotations("dataset"),
        released=resource(CONFIDENCE_FILE),
    output:
        **table_files(tables=["readings", "spread"], figures=["relation"]),
    pathvars:
        result="released/lajewska2025/text_5_4_3",
    params:
        **runs("lajewska2025/ch5_confidence:confidence"),
        alpha=0.05,
        seed=SETTINGS.seed,
        resamples=1000,
    message:
        "Confidence and agreement of annotators (section 5.4.3)"


# Table 5.5: numbers of answerable pairs; labels and passages by the rules of the section.
use rule table as lajewska2025_ch5_labels with:
    input:
        **answerability_labels(),
        **annotations("dataset"),
        qrels=resource("cast-reproducibility/qrels/2020.txt"),
    output:
        **table_files(tables=["readings", "construction"]),
    pathvars:
        result="released/lajewska2025/table_5_5",
    params:
        **runs("lajewska2025/ch5_labels:labels"),
        people=3,  # annotators of a passage
        added=5,  # section 5.5
    message:
        "Answerable pairs (Table 5.5)"


# Classifiers of sentences: a fine-tuned BERT, or a regression on a frozen encoder's vectors.
use rule cached_step as answerability_train with:
    input:
        **answerability_labels(),
        encoder=classifier_files,
        squad=classifier_squad,
    output:
        model=directory("work/answerability/{classifier}.model"),
    pathvars:
        job="answerability/train_{classifier}",
    wildcard_constraints:
        classifier="tiny",
    cache: True
    resources:
        **needs(3000, 60),
    params:
        **runs("lajewska2025/ch5_training:answerability_train"),
        settings=classifier_settings,
        seed=SETTINGS.seed,
    message:
        "Training a sentence classifier of answerability ({wildcards.classifier})"


# The classifiers of the thesis, with several seeds.
use rule cached_step as answerability_train_full with:
    input:
        **answerability_labels(),
        encoder=classifier_files,
        squad=classifier_squad,
    output:
        model=directory("work/answerability/{classifier}.seed-{seed}.model"),
    pathvars:
        job="answerability/train_{classifier}.seed-{seed}",
    wildcard_constraints:
        classifier="full|squad",
        seed="[0-9]+",
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch5_training:answerability_train"),
        settings=classifier_settings,
        seed=lambda wildcards: int(wildcards.seed),
    message:
        "Training a sentence classifier of answerability ({wildcards.classifier}, seed {wildcards.seed})"


use rule cached_step as answerability_score with:
    input:
        **answerability_labels(),
        model="work/answerability/{classifier}.model",
    output:
        scores="work/answerability/{classifier}.scores.parquet",
    pathvars:
        job="answerability/score_{classifier}",
    wildcard_constraints:
        classifier="tiny",
    cache: True
    resources:
        **needs(2000, 20),
    params:
        **runs("lajewska2025/ch5_training:answerability_score"),
        gpu_precision=SETTINGS.gpu_precision,
        length=lambda wildcards: classifier_settings(wildcards)["length"],
    message:
        "Answers in the sentences of test passages ({wildcards.classifier})"


use rule cached_step as answerability_score_full with:
    input:
        **answerability_labels(),
        model="work/answerability/{classifier}.seed-{seed}.model",
    output:
        scores="work/answerability/{classifier}.seed-{seed}.scores.parquet",
    pathvars:
        job="answerability/score_{classifier}.seed-{seed}",
    wildcard_constraints:
        classifier="full|squad",
        seed="[0-9]+",
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch5_training:answerability_score"),
        gpu_precision=SETTINGS.gpu_precision,
        length=lambda wildcards: classifier_settings(wildcards)["length"],
    message:
        "Answers in the sentences of test passages ({wildcards.classifier}, seed {wildcards.seed})"


use rule cached_step as answerability_frozen with:
    input:
        **answerability_labels(),
        encoder=registered_encoder("minilm"),
    output:
        scores="work/answerability/frozen.scores.parquet",
    pathvars:
        job="answerability/frozen",
    cache: True
    resources:
        **needs(3000, 20),
    params:
        **runs("lajewska2025/ch5_training:answerability_frozen"),
        **SETTINGS.answerability.frozen.model_dump(),
        gpu_precision=SETTINGS.gpu_precision,
        strengths=ANSWERABILITY_STRENGTHS,
        seed=SETTINGS.seed,
    message:
        "Answers in the sentences of test passages (MiniLM, zero-shot)"


# Table 5.6: accuracy of the released predictions, and of small classifiers trained here.
use rule table as lajewska2025_ch5_accuracy with:
    input:
        **answerability_labels(),
        **classifier_scores("tiny", "frozen"),
        **released_predictions(),
    output:
        **table_files(tables=ACCURACY_TABLES),
    pathvars:
        result="released/lajewska2025/table_5_6",
    resources:
        **needs(800),
    params:
        **runs("lajewska2025/ch5_answerability:accuracy"),
        chatgpt_thresholds=CHATGPT_THRESHOLDS,
    message:
        "Accuracy of answerability detection (Table 5.6)"


# The same with the classifiers of the thesis, trained on a GPU with several seeds.
use rule table as lajewska2025_ch5_accuracy_full with:
    input:
        unpack(full_classifier_scores),
        **answerability_labels(),
        **released_predictions(),
    output:
        **table_files(tables=[*ACCURACY_TABLES, "seeds"]),
    pathvars:
        result="full/lajewska2025/table_5_6",
    resources:
        **needs(800),
    params:
        **runs("lajewska2025/ch5_answerability:accuracy"),
        chatgpt_thresholds=CHATGPT_THRESHOLDS,
    message:
        "Accuracy of answerability detection by the thesis' classifiers (Table 5.6)"


# Figure 5.1: agreement of three annotators on a toy text.
use rule figure as lajewska2025_ch5_agreement_example with:
    output:
        **figure_files(tables=["agreement"]),
    pathvars:
        result="embedded/lajewska2025/figure_5_1",
    params:
        **runs("lajewska2025/ch5_examples:agreement_example"),
    message:
        "Agreement on a toy text (Figure 5.1)"


# Figure 5.2: a passage of CAsT-snippets with the snippets of the experts.
use rule figure as lajewska2025_ch5_sample with:
    input:
        **annotations("paragraph_expert"),
    pathvars:
        result="released/lajewska2025/figure_5_2",
    params:
        **runs("lajewska2025/ch5_examples:sample"),
        **SAMPLE_PASSAGE,
    message:
        "A passage with snippets (Figure 5.2)"


# Figure 5.3: the same passage, annotated as a whole and by sentence.
use rule figure as lajewska2025_ch5_designs with:
    input:
        **annotations("paragraph_master", "sentence_master"),
    pathvars:
        result="released/lajewska2025/figure_5_3",
    params:
        **runs("lajewska2025/ch5_examples:designs"),
        **SAMPLE_PASSAGE,
    message:
        "Annotation by paragraph and by sentence (Figure 5.3)"


# Figure 5.4: from made-up scores of sentences to a decision on a ranking.
use rule figure as lajewska2025_ch5_aggregation_example with:
    pathvars:
        result="embedded/lajewska2025/figure_5_4",
    params:
        **runs("lajewska2025/ch5_examples:aggregation_example"),
    message:
        "Aggregation of scores (Figure 5.4)"


# Figure B.2: labels of sentences from questions in the form of SQuAD 2.0, on a toy paragraph.
use rule figure as lajewska2025_ch5_squad_example with:
    pathvars:
        result="embedded/lajewska2025/figure_B_2",
    conda:
        environment("torch")
    params:
        **runs("lajewska2025/ch5_squad_example:squad_example"),
        seed=SETTINGS.seed,
    message:
        "Labels from questions (Figure B.2)"
