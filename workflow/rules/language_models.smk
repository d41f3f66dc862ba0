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
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=20,
    params:
        code=code_of("convert_gguf.py"),
    message:
        "Unpacking the language model {wildcards.language_model}"
    script:
        "../scripts/convert_gguf.py"
