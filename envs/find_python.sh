#!/bin/sh
# Print the path of a Python 3.11: `find_python.sh PYTHON` takes the one that is named. Where
# python3.11, the default, is not there, uv finds one elsewhere or fetches one.
set -eu
wanted=$1

if found=$(command -v "$wanted"); then
  if "$found" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    echo "$found"
    exit
  fi
  echo "make: '$wanted' is $("$found" --version 2>&1): everycell needs Python 3.11; name one with" \
    "PYTHON=/path/to/python3.11." >&2
  exit 1
fi

cannot() {
  echo "make: '$wanted' was not found$1: everycell needs Python 3.11; install it or name it with" \
    "PYTHON=/path/to/python3.11." >&2
  exit 1
}
[ "$wanted" = python3.11 ] || cannot ""

echo "There is no python3.11 on the path, so uv looks for one and, if need be, downloads it (30 MB)." >&2
if ! uv=$(command -v uv); then
  any=$(command -v python3) || cannot ", nor any other Python 3"
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  "$any" -m venv "$place/venv" >&2 || cannot ", and '$any' can make no environment for uv"
  "$place/venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
    --no-deps -r "$(dirname "$0")/installer.lock" >&2 || cannot ", and uv could not be installed"
  uv=$place/venv/bin/uv
fi
"$uv" python find --no-project 3.11 2>/dev/null && exit
"$uv" python install 3.11 >&2 || cannot ", and uv could not fetch one"
"$uv" python find --no-project 3.11 || cannot ", and uv found none after fetching one"
