# lajewska2025, chapter 5: which parts of a passage answer a question, and is there an answer at all?
# Annotations of CAsT-snippets -> agreement of annotators; labels of CAsT-answerability -> counts
# and accuracy; labelled sentences -> classifiers -> passages and rankings.


include: "ch5_inputs.smk"


# Table 5.1: what a passage took, as far as the logs are released.
rule lajewska2025_ch5_tasks:
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
        **table_files("released", "lajewska2025/table_5_1"),
        **beside("released", "lajewska2025/table_5_1", "readings"),
    log:
        "logs/lajewska2025/table_5_1.log",
    benchmark:
        "benchmarks/lajewska2025/table_5_1.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        # What MTurk adds to a reward: 20 percent, and 5 more for its master workers.
        fees={"MTurk regular": 0.20, "MTurk master": 0.25},
        face=face_of("released", "lajewska2025/table_5_1"),
        code=code_of("lajewska2025/ch5/tasks"),
    message:
        "Time and cost of annotating (Table 5.1)"
    script:
        script_file("lajewska2025/ch5/tasks")


# Table 5.2: agreement within each group of annotators.
rule lajewska2025_ch5_agreement:
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
        **table_files("released", "lajewska2025/table_5_2"),
    log:
        "logs/lajewska2025/table_5_2.log",
    benchmark:
        "benchmarks/lajewska2025/table_5_2.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_5_2"),
        code=code_of("lajewska2025/ch5/agreement"),
    message:
        "Agreement of annotators (Table 5.2)"
    script:
        script_file("lajewska2025/ch5/agreement")


# Table 5.3: each group against the experts.
rule lajewska2025_ch5_similarity:
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
        **table_files("released", "lajewska2025/table_5_3"),
        **beside("released", "lajewska2025/table_5_3", "parts"),
        **beside("released", "lajewska2025/table_5_3", "sentences"),
    log:
        "logs/lajewska2025/table_5_3.log",
    benchmark:
        "benchmarks/lajewska2025/table_5_3.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_5_3"),
        code=code_of("lajewska2025/ch5/similarity"),
    message:
        "Workers against experts (Table 5.3)"
    script:
        script_file("lajewska2025/ch5/similarity")


# Table 5.4: how long snippets are.
rule lajewska2025_ch5_lengths:
    input:
        **annotations("dataset"),
    output:
        **table_files("released", "lajewska2025/table_5_4"),
        **beside("released", "lajewska2025/table_5_4", "readings"),
    log:
        "logs/lajewska2025/table_5_4.log",
    benchmark:
        "benchmarks/lajewska2025/table_5_4.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_5_4"),
        code=code_of("lajewska2025/ch5/lengths"),
    message:
        "Lengths of snippets (Table 5.4)"
    script:
        script_file("lajewska2025/ch5/lengths")


# Section 5.4: numbers of the text.
rule lajewska2025_ch5_text:
    input:
        **annotations(
            "dataset",
            "paragraph_regular",
            "paragraph_master",
            "paragraph_prolific",
            "paragraph_expert",
        ),
    output:
        **table_files("released", "lajewska2025/text_5_4"),
        **beside("released", "lajewska2025/text_5_4", "whole"),
    log:
        "logs/lajewska2025/text_5_4.log",
    benchmark:
        "benchmarks/lajewska2025/text_5_4.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/text_5_4"),
        code=code_of("lajewska2025/ch5/text"),
    message:
        "Numbers of the text of section 5.4"
    script:
        script_file("lajewska2025/ch5/text")


# Table 5.5: how many pairs have an answer.
rule lajewska2025_ch5_labels:
    input:
        snippets=resource(ANSWERABILITY_FILES["snippets"]),
        unanswerable=resource(ANSWERABILITY_FILES["unanswerable"]),
        snippets_sentences=resource(ANSWERABILITY_FILES["snippets_sentences"]),
        unanswerable_sentences=resource(ANSWERABILITY_FILES["unanswerable_sentences"]),
    output:
        **table_files("released", "lajewska2025/table_5_5"),
        **beside("released", "lajewska2025/table_5_5", "readings"),
    log:
        "logs/lajewska2025/table_5_5.log",
    benchmark:
        "benchmarks/lajewska2025/table_5_5.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_5_5"),
        code=code_of("lajewska2025/ch5/labels"),
    message:
        "Answerable pairs (Table 5.5)"
    script:
        script_file("lajewska2025/ch5/labels")


# Classifiers of sentences: all of a BERT is trained, or a regression over an encoder's vectors.
rule answerability_train:
    input:
        **answerability_labels(),
        encoder=classifier_files,
        squad=classifier_squad,
    output:
        model=directory("work/answerability/{classifier}.model"),
    log:
        "logs/answerability/train_{classifier}.log",
    wildcard_constraints:
        classifier="tiny|full|squad",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        **on_gpu_where(lambda wildcards: wildcards.classifier != "tiny", 3000, 60),
    params:
        settings=classifier_settings,
        model=classifier_model,
        seed=SETTINGS.seed,
        code=code_of("lajewska2025/ch5/classifier_train"),
    message:
        "Training an answer-in-the-sentence classifier ({wildcards.classifier})"
    script:
        script_file("lajewska2025/ch5/classifier_train")


rule answerability_score:
    input:
        **answerability_labels(),
        model="work/answerability/{classifier}.model",
    output:
        scores="work/answerability/{classifier}.scores.parquet",
    log:
        "logs/answerability/score_{classifier}.log",
    wildcard_constraints:
        classifier="tiny|full|squad",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        **on_gpu_where(lambda wildcards: wildcards.classifier != "tiny", 2000, 20),
    params:
        length=lambda wildcards: classifier_settings(wildcards)["length"],
        code=code_of("lajewska2025/ch5/classifier_score"),
    message:
        "Answers in the sentences of test passages ({wildcards.classifier})"
    script:
        script_file("lajewska2025/ch5/classifier_score")


rule answerability_frozen:
    input:
        **answerability_labels(),
        encoder=files_of_encoder("minilm"),
    output:
        scores="work/answerability/frozen.scores.parquet",
    log:
        "logs/answerability/frozen.log",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=20,
    params:
        **SETTINGS.answerability.frozen.model_dump(),
        # Weights of the penalty, of which the validation partition chooses.
        strengths=[100.0, 1000.0, 10000.0, 100000.0],
        seed=SETTINGS.seed,
        code=code_of("lajewska2025/ch5/classifier_frozen"),
    message:
        "Answers in the sentences of test passages (MiniLM as it comes)"
    script:
        script_file("lajewska2025/ch5/classifier_frozen")


# Table 5.6: accuracy of the released predictions, and of classifiers that were trained here.
rule lajewska2025_ch5_accuracy:
    input:
        **answerability_labels(),
        **classifier_scores("tiny", "frozen"),
        chatgpt_passages=resource(ANSWERABILITY_FILES["chatgpt_passages"]),
        classifier=resource(ANSWERABILITY_FILES["classifier"]),
        augmented_classifier=resource(ANSWERABILITY_FILES["augmented_classifier"]),
    output:
        **table_files("released", "lajewska2025/table_5_6"),
        **beside("released", "lajewska2025/table_5_6", "readings"),
        **beside("released", "lajewska2025/table_5_6", "unanswerable"),
        **beside("released", "lajewska2025/table_5_6", "classifiers"),
        **beside("released", "lajewska2025/table_5_6", "tests"),
    log:
        "logs/lajewska2025/released_table_5_6.log",
    benchmark:
        "benchmarks/lajewska2025/released_table_5_6.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(800),
        runtime=5,
    params:
        # Section 5.7.
        chatgpt_thresholds=[0.33, 0.66],
        face=face_of("released", "lajewska2025/table_5_6"),
        code=code_of("lajewska2025/ch5/accuracy"),
    message:
        "Accuracy of answerability detection (Table 5.6)"
    script:
        script_file("lajewska2025/ch5/accuracy")


# The same with the thesis' own classifiers, which a GPU trains.
use rule lajewska2025_ch5_accuracy as lajewska2025_ch5_accuracy_full with:
    input:
        unpack(full_classifier_scores),
        **answerability_labels(),
        chatgpt_passages=resource(ANSWERABILITY_FILES["chatgpt_passages"]),
        classifier=resource(ANSWERABILITY_FILES["classifier"]),
        augmented_classifier=resource(ANSWERABILITY_FILES["augmented_classifier"]),
    output:
        **table_files("full", "lajewska2025/table_5_6"),
        **beside("full", "lajewska2025/table_5_6", "readings"),
        **beside("full", "lajewska2025/table_5_6", "unanswerable"),
        **beside("full", "lajewska2025/table_5_6", "classifiers"),
        **beside("full", "lajewska2025/table_5_6", "tests"),
    log:
        "logs/lajewska2025/full_table_5_6.log",
    benchmark:
        "benchmarks/lajewska2025/full_table_5_6.tsv"
    params:
        face=face_of("full", "lajewska2025/table_5_6"),
    message:
        "Accuracy of answerability detection by the thesis' classifiers (Table 5.6)"


# Table B.1: sizes of the data sets.
rule lajewska2025_chB_data_sets:
    input:
        snippets=resource(ANSWERABILITY_FILES["snippets"]),
        unanswerable=resource(ANSWERABILITY_FILES["unanswerable"]),
        snippets_sentences=resource(ANSWERABILITY_FILES["snippets_sentences"]),
        unanswerable_sentences=resource(ANSWERABILITY_FILES["unanswerable_sentences"]),
    output:
        **table_files("released", "lajewska2025/table_B_1"),
        **beside("released", "lajewska2025/table_B_1", "questions"),
        **beside("released", "lajewska2025/table_B_1", "sentences"),
    log:
        "logs/lajewska2025/table_B_1.log",
    benchmark:
        "benchmarks/lajewska2025/table_B_1.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_B_1"),
        code=code_of("lajewska2025/chB/data_sets"),
    message:
        "Sizes of the data sets (Table B.1)"
    script:
        script_file("lajewska2025/chB/data_sets")


# Table B.2: labels of one question.
rule lajewska2025_chB_sample:
    input:
        snippets=resource(ANSWERABILITY_FILES["snippets"]),
        unanswerable=resource(ANSWERABILITY_FILES["unanswerable"]),
    output:
        **table_files("released", "lajewska2025/table_B_2"),
        **beside("released", "lajewska2025/table_B_2", "passages"),
    log:
        "logs/lajewska2025/table_B_2.log",
    benchmark:
        "benchmarks/lajewska2025/table_B_2.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        # The print gives the second id twice; its third passage is the one that starts as printed.
        turn="81_7",
        passages=["MARCO_7107975", "MARCO_8270733", "MARCO_8270735"],
        face=face_of("released", "lajewska2025/table_B_2"),
        code=code_of("lajewska2025/chB/sample"),
    message:
        "Labels of a sample (Table B.2)"
    script:
        script_file("lajewska2025/chB/sample")
