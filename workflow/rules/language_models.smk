# Language models that come as GGUF files, taken apart once.


wildcard_constraints:
    language_model="|".join(GGUF_FILES) or "none",


rule convert_gguf:
    input:
        gguf=lambda wildcards: GGUF_FILES[wildcards.language_model],
    output:
        model=directory("work/language-models/{language_model}"),
    log:
        "logs/language-models/{language_model}.log",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=20,
    params:
        code=code_of("language_models/convert_gguf"),
    message:
        "Unpacking the language model {wildcards.language_model}"
    script:
        script_file("language_models/convert_gguf")
