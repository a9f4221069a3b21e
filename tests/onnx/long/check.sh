#!/bin/sh
# The long tests of the ONNX importer, with the packages that they need in an environment of their own.
# usage: check.sh nodes|exports|quantised BUILD FOLDER      FOLDER: of the environments and nets, which is made where it is missing
# Exit code 77: something that this needs is not on the machine. The packages of exports take 6 GB, its nets 12 GB.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=$1 build=$(cd "$2" && pwd) folder=$3
runner=$build/tests/onnx/mnn_c_onnx_node_runner
export MNN_C_LIBRARY="$build/libmnn_c.so.0" MNN_C_ONNX_LIBRARY="$build/libmnn_c_onnx.so.0"
export PYTHONPATH="$here/../../../bindings/python/src"

# environment NAME PACKAGE...: its interpreter is $python
environment() {
    python=$folder/$1/bin/python
    shift
    [ -x "$python" ] || python3 -m venv "$(dirname "$(dirname "$python")")" || { echo "check.sh: no environment for Python"; exit 77; }
    "$python" -m pip install --quiet "$@" || { echo "check.sh: $* cannot be installed"; exit 77; }
}
mkdir -p "$folder"
exporters() {
    environment torch torch torchvision onnx==1.23.2 onnxscript
    PYTHONPATH='' OMP_NUM_THREADS=1 "$python" "$here/export_nets.py" "$folder/nets" "$@"
}
case $what in
nodes)
    environment onnx onnx==1.23.2 onnxruntime==1.32.0
    exec "$python" "$here/node_tests.py" "$runner" "$here/node_tests.txt"
    ;;
exports)
    exporters
    environment onnx onnx==1.23.2 onnxruntime==1.32.0
    exec "$python" "$here/exported_nets.py" "$runner" "$folder/nets"
    ;;
quantised)
    exporters 'zoo_(mobilenet|resnet|squeezenet|efficientnet_b0|shufflenet|unet|googlenet|densenet|regnet|vit_small)'
    environment onnx onnx==1.23.2 onnxruntime==1.32.0 sympy
    exec "$python" "$here/quantised_nets.py" "$folder/nets" "$folder/quantised"
    ;;
*)
    echo "usage: check.sh nodes|exports|quantised BUILD FOLDER" >&2
    exit 2
    ;;
esac
