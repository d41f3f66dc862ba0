"""Conversion of GGUF models to safetensors.

Loading a GGUF file takes more than ten times as long as loading safetensors.
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
from everycell.learning.hub import quiet
from everycell.learning.models import ModelError


def convert_gguf(file: Path, folder: Path, *, name: str) -> None:
    """Convert a GGUF model to safetensors, with its tokenizer and chat template.

    The weights keep the values of the GGUF file, in float32. A note in the folder has the hash of
    that file, under which answers are recorded.
    """
    # transformers parses the file separately for settings, tokenizer and weights, and builds a
    # table of names for each module: caching more than halves the time.
    cached: dict[str, Any] = {
        name: cache(getattr(gguf, name)) for name in ("GGUFReader", "get_tensor_name_map")
    }
    try:
        with quiet(), patch.multiple(gguf, **cached):
            tokenizer = AutoTokenizer.from_pretrained(
                file.parent, gguf_file=file.name, trust_remote_code=False
            )
            model = AutoModelForCausalLM.from_pretrained(
                file.parent,
                gguf_file=file.name,
                trust_remote_code=False,
                dtype=torch.float32,
            )
    # gguf, numpy, torch and transformers raise different errors for a damaged file.
    except Exception as error:
        raise ModelError(
            f"The GGUF file {file} cannot be read ({error}): it is damaged, or transformers does "
            "not support its architecture; copy it again, or use another file."
        ) from error
    # The weights are dequantised, but transformers does not save a model with a quantiser.
    del model.config.quantization_config
    model.hf_quantizer = None
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        with quiet():
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
        identity = folder_identity(file, name=name).model_dump(include={"name", "revision"})
        (partial / SOURCE_FILE).write_text(json.dumps(identity) + "\n", encoding="utf-8")
        # mkdtemp creates folders that only their owner can read.
        umask = os.umask(0)
        os.umask(umask)
        for path in (partial, *partial.iterdir()):
            path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
