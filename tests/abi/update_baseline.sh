#!/usr/bin/env bash
# Renews tests/abi/baseline*.abi after a wanted change of a header in include/. Read their diff before committing it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$root/tests/abi/abi.py" update --source "$root" --work "$work"
git -C "$root" diff --stat -- tests/abi
