#!/bin/sh
# Runs the tests of mnn_c.ray or mnn_c.spark, with the packages that they need in an environment of their own.
# usage: check.sh ray|spark FOLDER      FOLDER: the folder of the environment, which is made where it is missing
# The library is that of MNN_C_LIBRARY. Exit code 77: something that this needs is not on the machine.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in
ray) packages="ray[data] numpy" ;;
spark)
    packages="pyspark pandas pyarrow numpy"
    command -v java >/dev/null || { echo "check.sh: there is no Java"; exit 77; }
    ;;
*) echo "usage: check.sh ray|spark FOLDER" >&2; exit 2 ;;
esac
python=$2/bin/python
[ -x "$python" ] || python3 -m venv "$2" || { echo "check.sh: no environment for Python can be made"; exit 77; }
# shellcheck disable=SC2086  # several words
"$python" -m pip install --quiet $packages || { echo "check.sh: $1 cannot be installed"; exit 77; }
exec "$python" "$here/check_$1.py" -v
