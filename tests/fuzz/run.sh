#!/bin/sh
# Fuzzes one target: tests/fuzz/run.sh TARGET EXECUTIONS [libFuzzer's options...]
#   targets: model weights cache npy json zip image onnx
# Environment: BUILD (build/fuzz), CORPUS (build/fuzz/corpus-TARGET, which grows), ARTIFACTS (build/fuzz/finds-TARGET:
# inputs that crash, leak or take long). Builds the target when it is not there. Exit code 0: nothing was found.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
target=$1 executions=$2
shift 2
build=${BUILD:-$root/build/fuzz}
corpus=${CORPUS:-$build/corpus-$target}
finds=${ARTIFACTS:-$build/finds-$target}
program=$build/tests/fuzz/fuzz_$target
if [ ! -x "$program" ]; then
    (cd "$root" && cmake --preset fuzz -B "$build" && cmake --build "$build" --target "fuzz_$target")
fi
mkdir -p "$corpus" "$finds"

# Seeds are files of other tests and of this folder. An existing corpus already contains them.
if [ -z "$(ls -A "$corpus")" ]; then
    number=0
    while read -r seed; do
        [ -z "$seed" ] || cp "$seed" "$corpus/seed-$number"
        number=$((number + 1))
    done <"$build/tests/fuzz/$target.seeds"
fi
# Most models of the corpus of node tests are small, and together they reach twice as much code as the seeds.
if [ "$target" = onnx ] && [ ! -e "$corpus/.node-tests" ]; then
    python3 "$root/tests/onnx/corpus_files.py" "$root/tests/onnx/corpus.xz" "$corpus" 2048
    : >"$corpus/.node-tests"
fi
folders=
for folder in "$root/tests/fuzz/seeds/$target" "$root/tests/fuzz/regressions/$target"; do
    [ ! -d "$folder" ] || folders="$folders $folder"
done

# A unit may take 10 s under the sanitizers and may request 160 MiB at once; sessions of the target get 4 MiB. An image
# may claim 512 MiB, which stb_image allocates before it reads.
memory=160
case $target in
    model | weights | zip) most=65536 ;;
    image) most=8192 memory=520 ;;
    onnx) most=2048 ;;
    npy) most=8192 ;;
    *) most=4096 ;;
esac
# Stacks of allocations have one frame, and rare features of the corpus no weight: three times as many executions a second. To
# see where memory was allocated, repeat a find with malloc_context_size=30.
export ASAN_OPTIONS="malloc_context_size=1:quarantine_size_mb=16:use_sigaltstack=0:${ASAN_OPTIONS:-}"
# Without error_exitcode, a find that ends the program has the status 77, which means elsewhere that something was left out.
# shellcheck disable=SC2086
exec "$program" -error_exitcode=1 -runs="$executions" -max_len=$most -entropic=0 -timeout=10 -report_slow_units=2 -rss_limit_mb=2048 \
    -malloc_limit_mb=$memory -detect_leaks=1 -print_final_stats=1 -artifact_prefix="$finds/" "$@" "$corpus" $folders
