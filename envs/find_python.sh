#!/bin/sh
# Print the path of a Python 3.11: `find_python.sh PYTHON` uses the given interpreter. If the default,
# python3.11, is missing, uv finds or downloads one.
set -eu
python=$1

if path=$(command -v "$python"); then
  if "$path" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    echo "$path"
    exit
  fi
  echo "make: '$python' is $("$path" --version 2>&1), but everycell needs Python 3.11. Set" \
    "PYTHON=/path/to/python3.11." >&2
  exit 1
fi

fail() {
  echo "make: '$python' was not found$1. everycell needs Python 3.11: install it or set" \
    "PYTHON=/path/to/python3.11." >&2
  exit 1
}
[ "$python" = python3.11 ] || fail ""

echo "No python3.11 on the path; uv will find one, or download it (30 MB)." >&2
if ! uv=$(command -v uv); then
  any_python=$(command -v python3) || fail ", nor any other Python 3"
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  "$any_python" -m venv "$folder/venv" >&2 || fail ", and '$any_python' cannot create an environment for uv"
  "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
    --no-deps -r "$(dirname "$0")/installer.lock" >&2 || fail ", and uv could not be installed"
  uv=$folder/venv/bin/uv
fi
"$uv" python find --no-project 3.11 2>/dev/null && exit
"$uv" python install 3.11 >&2 || fail ", and uv could not download one"
"$uv" python find --no-project 3.11 || fail ", and uv did not find the downloaded one"
