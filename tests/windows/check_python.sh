#!/usr/bin/env bash
# usage: check_python.sh BUILD WORK
# Makes a wheel for Windows of the zip file that cpack made in the folder BUILD, looks at what it contains, and runs the tests of
# the package that is installed from it under wine. The Python for Windows is the python.exe that MNN_C_WINDOWS_PYTHON names, else
# that of Maven Central's org.bytedeco:cpython, where the program mvn is; without both the tests do not run.
# NumPy 2 calls functions that ucrtbase.dll of wine 8 lacks, so it is 1.26 here; Python is 3.11, because the module
# `platform` of later versions asks for WMI, which wine 8 lacks as well.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD build=$(cd "$1" && pwd) work=$2
. tests/cross/package.sh
unpack .zip
export WINEDEBUG=-all WINEPREFIX=$work/wine WINEDLLOVERRIDES=mscoree,mshtml,winedbg.exe=

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check setuptools wheel
PATH=$work/tools/bin:$PATH "$work/tools/bin/python" bindings/python/build_wheel.py --prefix "$prefix" --output "$work/dist" \
    --platform win_amd64 --strip x86_64-w64-mingw32-strip
wheel=$(ls "$work"/dist/*.whl)
case $wheel in *-py3-none-win_amd64.whl) ;; *) echo "$wheel is not for 64-bit Windows" >&2; exit 1 ;; esac
mkdir "$work/contents"
python3 -m zipfile -e "$wheel" "$work/contents"
for name in mnn_c.dll mnn_c_image.dll mnn_c_onnx.dll mnn.exe; do test -s "$work/contents/mnn_c/lib/$name"; done
for name in LICENSE THIRD-PARTY; do
    find "$work/contents" -path "*.dist-info*" -name $name -exec cmp {} "$prefix/share/doc/mnn_c/$name" \; -print | grep -q .
done

python=${MNN_C_WINDOWS_PYTHON:-}
if [ -z "$python" ] && command -v mvn >/dev/null; then
    cat >"$work/pom.xml" <<'END'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>test</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.bytedeco</groupId><artifactId>cpython</artifactId><version>3.11.3-1.5.9</version>
      <classifier>windows-x86_64</classifier>
    </dependency>
  </dependencies>
</project>
END
    (cd "$work" && mvn -q -B dependency:copy-dependencies -DexcludeTransitive=true -DoutputDirectory="$work/jars")
    python3 -m zipfile -e "$work"/jars/cpython-*-windows-x86_64.jar "$work/python"
    python=$work/python/org/bytedeco/cpython/windows-x86_64/python.exe
fi
[ -n "$python" ] || { echo "the tests of the wheel did not run: there is no Python for Windows"; exit 0; }

# Wine gives Python neither a terminal nor a file as its standard streams.
windows_python() { /usr/lib/wine/wine64 "$python" "$@" </dev/null 2>&1 | cat; }
windows_python -c '' >/dev/null  # wine prints when it makes its folder
version=$(windows_python -c 'import sys; print("%d.%d" % sys.version_info[:2], end="")')
"$work/tools/bin/pip" install --quiet --disable-pip-version-check --target "$work/site" --platform win_amd64 \
    --python-version "$version" --implementation cp --only-binary :all: 'numpy<2' "$wheel"
export PYTHONPATH="Z:${work//\//\\}\\site" MNN_C_TEST_INSTALLED=1 PYTHONDONTWRITEBYTECODE=1
unset MNN_C_LIBRARY MNN_C_IMAGE_LIBRARY MNN_C_ONNX_LIBRARY
windows_python -c 'import sys; sys.argv = ["mnn", "--version"]; from mnn_c.tool import main; main()'
cd bindings/python/tests
windows_python -X faulthandler -m unittest discover | tee "$work/output" | tail -n 3
grep -qE '^OK' "$work/output" || { cat "$work/output" >&2; exit 1; }
