#!/usr/bin/env bash
# Made by envs/make_conda.py from base.lock, lucene.lock.
set -euo pipefail
pip install --no-deps pyserini==1.6.0
