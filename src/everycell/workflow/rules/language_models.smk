# Conversion of language models from GGUF files.


wildcard_constraints:
    language_model="|".join(GGUF_FILES) or "none",


use rule cached_step as convert_gguf with:
    input:
        gguf=lambda wildcards: GGUF_FILES[wildcards.language_model],
    output:
        model=directory("work/language-models/{language_model}"),
    pathvars:
        job="language-models/{language_model}",
    cache: True
    resources:
        **needs(3000, 20),
    params:
        **runs("language_models/convert_gguf"),
    message:
        "Unpacking the language model {wildcards.language_model}"
