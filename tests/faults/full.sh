#!/usr/bin/env bash
# Runs every point of the faults, of which ctest runs a sample: each request for memory of each public function and of a
# net's life, on the CPU and on Vulkan (with a device that is kept, and with one that is created anew each time), each
# call of the system, each call of Vulkan.
#
#     tests/faults/full.sh [BUILD FOLDER]
#
# Environment: FAULTS_EVERY (1): of the requests of nets on Vulkan, every n-th. All of them take hours with a software driver
# on two CPUs.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
cases=tests/conformance/cases
nets=(examples/digits/digits.mnn "$cases"/{control__if_conv,control__loop_counted,int8__conv_chain}/model.mnn)
"$build/tests/faults/faults_functions_test"
"$build/tests/faults/faults_memory_test" "${nets[@]}"
"$build/tests/faults/faults_system_test" examples/digits/digits.mnn
"$build/tests/faults/faults_functions_test" --vulkan || [ $? = 77 ]
for options in "" --cold; do
    # shellcheck disable=SC2086
    "$build/tests/faults/faults_memory_test" --vulkan $options --every "${FAULTS_EVERY:-1}" "${nets[@]}" || [ $? = 77 ]
done
if [ -x "$build/tests/mnn_c_vulkan_tests" ]; then
    MNN_C_FAULTS_EVERY=1 "$build/tests/mnn_c_vulkan_tests" --gtest_filter='*Faults*' || [ $? = 77 ]
fi
