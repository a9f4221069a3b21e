#!/usr/bin/env bash
# Runs the long tests, which take hours; scripts/test.sh has a small sample of each.
#
#   scripts/test-long.sh                 all sections, in the order below
#   scripts/test-long.sh asan fuzz       these sections
#   scripts/test-long.sh --resume        leaves out steps that have passed since the sources last changed
#
# Sections:
#   asan      all tests with the address and undefined behaviour sanitizers
#   apart     the cases and random nets, in a build that reports accesses outside of a tensor
#   tsan      all tests with the thread sanitizer
#   fuzz      every target of tests/fuzz (clang): FUZZ_MODEL executions of the model target, FUZZ_OTHER of each other one
#   operators nets of one or two random operators under the sanitizers: RANDOM_NETS on the CPU, a tenth of them on Vulkan
#   stress    8 threads over sessions of shared interpreters, STRESS_SECONDS each: with tsan, with asan and Vulkan
#   faults    every n-th request for memory and every n-th system call fails
#   pages     the pages of the tool in headless Chromium; left out where there is none
#   onnx      every node test of the package onnx, also with free extents; nets of both of torch's exporters, and nets
#             that onnxruntime quantised, with onnxruntime as the reference; needs a network
#   language  compares the 200 tokens after each of 20 prompts that SmolLM2 gives with the tool and with transformers;
#             needs a network
#   packages  makes crates, Go module, wheel and sdist, and uses them as after an installation; needs a network
#   clusters  mnn_c.ray and mnn_c.spark on clusters of this machine; left out where their packages cannot be installed
#   arm       the tests for 64-bit Arm, under an emulator: unit tests, NEON and portable kernels, CPUs with fewer
#             features, the bits of each number of threads
#   windows   scripts/cross.sh windows-x64: all tests that Windows can run, and the zip file, under wine
#   musl      scripts/cross.sh musl-x64 and musl-arm64: the C interface, the cases and the package with musl, on Arm under
#             an emulator; checks that compile for macOS, Windows on Arm and RISC-V; needs a network
#   tidy      clang-tidy over the sources, each compiled alone; left out where there is no clang-tidy-14
#   mutants   whether the tests detect small defects (MUTANTS of them, seed 1)
#
# Every step's output goes to build/long/SECTION.STEP.log. Exits with 1 when a step failed.
set -uo pipefail
cd "$(dirname "$0")/.."

FUZZ_MODEL=${FUZZ_MODEL:-2000000}
FUZZ_OTHER=${FUZZ_OTHER:-1600000}
RANDOM_NETS=${RANDOM_NETS:-100000}
STRESS_SECONDS=${STRESS_SECONDS:-120}
MUTANTS=${MUTANTS:-100}
JOBS=${JOBS:-$(nproc)}

readonly all=(asan apart tsan fuzz operators stress faults pages onnx language packages clusters arm windows musl tidy mutants)
readonly folder=build/long
resume=
sections=()
for word in "$@"; do
    case $word in
    --resume) resume=yes ;;
    -h | --help)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
    *)
        if [[ " ${all[*]} " != *" $word "* ]]; then
            echo "$0: there is no section '$word'; there are: ${all[*]}" >&2
            exit 2
        fi
        sections+=("$word")
        ;;
    esac
done
if [ ${#sections[@]} -eq 0 ]; then sections=("${all[@]}"); fi

# The state of the working tree: steps that passed with it are not repeated.
git rev-parse HEAD >/dev/null || {
    echo "$0: git does not know the state of this tree" >&2
    exit 2
}
state=$({
    git rev-parse HEAD
    git diff HEAD
    git ls-files -z --others --exclude-standard | xargs -0r sha256sum
} | sha256sum)

summary=()
failures=0

# step NAME COMMAND...: runs the command, keeps its output, records its result.
step() {
    local name=$section.$1 log=$folder/$section.$1.log begin=$SECONDS result
    shift
    local key="$state ${*#--resume}"  # the arguments say how much is run
    if [ -n "$resume" ] && [ "$(cat "$folder/$name.passed" 2>/dev/null)" = "$key" ]; then
        summary+=("$(printf '%-24s passed before' "$name")")
        return 0
    fi
    rm -f "$folder/$name.passed"
    echo "== $name: $* (output in $log)"
    "$@" >"$log" 2>&1
    local status=$?
    case $status in
    0)
        result=passed
        echo "$key" >"$folder/$name.passed"
        ;;
    77) result="left out: $(tail -n 1 "$log")" ;;
    *)
        result="FAILED with exit status $status"
        failures=$((failures + 1))
        tail -n 20 "$log"
        ;;
    esac
    summary+=("$(printf '%-24s %s, %d s' "$name" "$result" $((SECONDS - begin)))")
    [ "$result" = passed ]
}

built() {  # PRESET TARGET...: configures and builds
    local preset=$1
    shift
    cmake --preset "$preset" && cmake --build --preset "$preset" -j "$JOBS" ${1:+--target "$@"}
}

with_preset() {
    step build built "$1" && step tests ctest --preset "$1" -j "$JOBS"
}
run_asan() { with_preset asan; }
run_apart() {
    local program=build/apart/tools/mnn/mnn threads
    step configure cmake --preset asan -B build/apart -DMNN_C_TENSORS_APART=ON -DMNN_C_VULKAN=OFF &&
        step build cmake --build build/apart -j "$JOBS" --target mnn mnn_c_random_operators || return
    for threads in 1 2; do
        step cases$threads "$program" verify --threads $threads tests/conformance/cases tests/families/cases/*
    done
    step nets build/apart/tests/fuzz/mnn_c_random_operators --verbose --nets "$RANDOM_NETS"
}
run_tsan() { with_preset tsan; }

run_fuzz() {
    local source target executions
    step build built fuzz || return
    for source in tests/fuzz/*_target.cpp; do
        target=$(basename "$source" _target.cpp)
        executions=$FUZZ_OTHER
        if [ "$target" = model ]; then executions=$FUZZ_MODEL; fi
        step "$target" tests/fuzz/run.sh "$target" "$executions"
    done
}

run_operators() {
    local program=build/asan/tests/fuzz/mnn_c_random_operators
    step build built asan mnn_c_random_operators || return
    step cpu "$program" --verbose --nets "$RANDOM_NETS"
    step vulkan "$program" --verbose --vulkan --nets $((RANDOM_NETS / 10))
}

run_stress() {
    local options=(--seconds "$STRESS_SECONDS" --seed 1)
    local nets=(examples/digits/digits.mnn tests/conformance/cases/{int8__conv,control__if_conv,control__loop_conditional}/model.mnn)
    step build.tsan built tsan mnn_c_stress &&
        step tsan build/tsan/tests/stress/mnn_c_stress "${options[@]}" "${nets[@]}"
    step build.asan built asan mnn_c_stress &&
        step asan build/asan/tests/stress/mnn_c_stress "${options[@]}" --vulkan "${nets[0]}"
}

run_faults() {
    step build built release && step points tests/faults/full.sh build/release
}

run_pages() {
    step build built release mnn &&
        step chromium tests/tool/check_browser.py build/release/tools/mnn/mnn examples/digits/digits.mnn \
            tests/conformance/cases/control__loop_conditional/model.mnn
}

run_onnx() {
    local what
    step build built release mnn_c_onnx_node_runner || return
    for what in nodes exports quantised; do
        step $what tests/onnx/long/check.sh $what build/release "$folder/onnx"
    done
}

run_language() {
    step build built release mnn || return
    step smollm2 tests/language/check.sh build/release/tools/mnn/mnn "$folder/language"
}

run_packages() {
    local prefix=$PWD/build/packages/prefix
    step build cmake --preset release -B build/packages -DMNN_C_STATIC_LIBSTDCXX=ON -DMNN_C_TESTS=OFF -DMNN_C_EXAMPLES=OFF &&
        step compile cmake --build build/packages -j "$JOBS" &&
        step install cmake --install build/packages --prefix "$prefix" || return
    step crates tests/packaging/check_crates.sh "$prefix"
    step go tests/packaging/check_go_module.sh "$prefix"
    step wheel tests/packaging/check_wheel.sh "$prefix"
}

run_clusters() {
    local packages
    step build built release mnn_c || return
    for packages in ray spark; do
        MNN_C_LIBRARY=$PWD/build/release/libmnn_c.so.0 \
            step $packages bindings/python/tests/clusters/check.sh $packages "$folder/python-$packages"
    done
}

run_arm() {
    step emulated tests/arm/check.sh all . build/arm
}

run_windows() {
    local part
    for part in install build test package; do
        step $part scripts/cross.sh windows-x64 $part || return
    done
}

run_musl() {
    local target part
    for target in musl-x64 musl-arm64; do
        for part in install build test package; do
            step "$target.$part" scripts/cross.sh "$target" "$part" || break
        done
    done
    step checks scripts/cross.sh checks
}

# Checks the sources of a room, without those that the build generates. Kernels are checked as code for one instruction
# set.
tidy_room() {
    python3 - "$1" <<'EOF' | xargs -r -P "$JOBS" -n 1 clang-tidy-14 -p build/tidy --quiet
import json, os, sys
folder = os.path.join(os.getcwd(), sys.argv[1], "")
sources = {os.path.realpath(entry["file"]) for entry in json.load(open("build/tidy/compile_commands.json"))}
print("\n".join(sorted(source for source in sources if source.startswith(folder))))
EOF
}
tidy_configure() {
    command -v clang-tidy-14 clang++-14 >/dev/null || { echo "there is no clang-tidy-14 with clang++-14"; return 77; }
    cmake --preset release -B build/tidy -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMNN_C_UNITY=OFF -DMNN_C_ISAS=avx2 \
        -DMNN_C_VULKAN=OFF -DMNN_C_TESTS=OFF -DMNN_C_EXAMPLES=OFF &&
        cmake --build build/tidy --target mnn_c_wire_header
}
run_tidy() {
    local room
    step configure tidy_configure || return
    for room in impl backends/cpu tools image onnx; do step "${room/\//-}" tidy_room $room; done
}

run_mutants() {
    step seed1 tests/mutants/mutate.py --seed 1 --count "$MUTANTS" --kernels-at-most 30 --jobs "$JOBS" \
        ${resume:+--resume}
}

mkdir -p "$folder"
for section in "${sections[@]}"; do "run_$section"; done

echo
printf '%s\n' "${summary[@]}"
if [ $failures -gt 0 ]; then
    echo "$failures steps failed"
    exit 1
fi
echo "all steps passed"
