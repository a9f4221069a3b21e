#!/bin/sh
# Checks everything that must hold before a change of this folder is done: the tests, and where they are installed the
# type checker, for the oldest Python that it knows, and pyflakes. PYTHON names another interpreter. The library is that
# of MNN_C_LIBRARY, else the one that pkg-config finds. Exit code 77: something that this needs is not on the machine.
set -eu
cd "$(dirname "$0")"
python=${PYTHON:-python3}
# The distribution's Python is used where another one, without NumPy, precedes it.
if [ -z "${PYTHON:-}" ] && ! python3 -c 'import numpy' 2>/dev/null; then python=/usr/bin/python3; fi
command -v "$python" >/dev/null || { echo "check.sh: there is no '$python'"; exit 77; }
"$python" -c 'import sys, numpy; sys.exit(sys.version_info < (3, 9))' || { echo "check.sh: Python 3.9 or newer with NumPy is needed"; exit 77; }
if [ -z "${MNN_C_LIBRARY:-}" ]; then
    pkg-config --exists mnn_c || { echo "check.sh: pkg-config does not find mnn_c"; exit 77; }
    MNN_C_LIBRARY=$(pkg-config --variable=libdir mnn_c)/libmnn_c.so.0
    export MNN_C_LIBRARY
fi
export PYTHONDONTWRITEBYTECODE=1
"$python" --version
if "$python" -c 'import mypy' 2>/dev/null; then "$python" -m mypy --strict --cache-dir=/dev/null src; fi
if "$python" -c 'import pyflakes' 2>/dev/null; then "$python" -m pyflakes src tests ./*.py; fi
cd tests
"$python" -X faulthandler -m unittest discover
