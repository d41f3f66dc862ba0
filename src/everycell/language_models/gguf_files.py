"""Models in GGUF files, written once as safetensors.

Taking a GGUF file apart costs more than ten times the reading of safetensors.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gguf
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from everycell.language_models.generation import SOURCE_FILE, folder_identity
from everycell.learning.models import ModelError
from everycell.learning.quiet import quiet


def convert_gguf(file: Path, folder: Path, *, name: str) -> None:
    """Write a GGUF model as safetensors, with its tokenizer and chat template.

    The weights keep the values of the GGUF file, in float32. A note beside them says which file
    they are from, so that answers are recorded under its hash.
    """
    # transformers parses the file again for settings, tokenizer and weights, and makes a table
    # of names for each module: without this, converting takes more than twice as long.
    once: dict[str, Any] = {
        name: cache(getattr(gguf, name)) for name in ("GGUFReader", "get_tensor_name_map")
    }
    try:
        with quiet(), patch.multiple(gguf, **once):
            tokenizer = AutoTokenizer.from_pretrained(
                file.parent, gguf_file=file.name, trust_remote_code=False
            )
            read = AutoModelForCausalLM.from_pretrained(
                file.parent,
                gguf_file=file.name,
                trust_remote_code=False,
                dtype=torch.float32,
            )
    # gguf, numpy, torch and transformers all have errors of their own for a damaged file.
    except Exception as error:
        raise ModelError(
            f"The GGUF file {file} cannot be read ({error}): it is damaged, or of an architecture "
            "that transformers does not know; copy it again, or take another one."
        ) from error
    # It is a plain model by now, but what it was read by refuses to be saved.
    del read.config.quantization_config
    read.hf_quantizer = None
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        with quiet():
            read.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
        identity = folder_identity(file, name=name).model_dump(include={"name", "revision"})
        (partial / SOURCE_FILE).write_text(json.dumps(identity) + "\n", encoding="utf-8")
        # mkdtemp makes folders that only their owner can read.
        umask = os.umask(0)
        os.umask(umask)
        for path in (partial, *partial.iterdir()):
            path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
