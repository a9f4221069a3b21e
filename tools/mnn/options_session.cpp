// The options that several commands have.
#include "options.h"

#include <CLI/CLI.hpp>

#include <iterator>

#include "backend_list.h"
#include "progress.h"
#include "validation_layer.h"

namespace tool {
std::vector<std::string> valuesOf(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const size_t begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::vector<std::string> backendNames(bool withAuto) {
    std::vector<std::string> names;
    for (const BackendRow& row : kBackends)
        if (withAuto || row.forwardType != MNN_FORWARD_AUTO) names.push_back(row.name);
    return names;
}

void addBackendTo(CLI::App& command, CommonFlags& flags) {
    command
        .add_option("--backend", flags.backend,
                    "Where to run: cpu, " + kGpu +
                        " (an error where there is no device) or auto (a GPU if there is one, else the CPU)")
        ->check(CLI::IsMember(backendNames(true)))
        ->capture_default_str();
}

void addShapesTo(CLI::App& command, CommonFlags& flags) {
    command.add_option("--shape", flags.shapes, "Shape of an input that the model leaves open: name=1x3x224x224")
        ->type_name("NAME=DIMS");
}

void addSessionFlagsTo(CLI::App& command, CommonFlags& flags) {
    command.add_option("--threads", flags.threads, "CPU threads of the session")
        ->check(CLI::Range(1, static_cast<int>(MNN_MAX_THREADS)))
        ->capture_default_str();
    command
        .add_option("--device", flags.device,
                    "Which GPU: its number, its UUID or a part of its name in 'mnn devices' (default: the best)")
        ->type_name("INDEX|UUID|NAME");
    command
        .add_option("--gpu-mode", flags.gpuMode,
                    "How a GPU gets its work: direct, a recording per operator, or indirect, many operators in "
                    "one (default: indirect)")
        ->check(CLI::IsMember({"direct", "indirect"}));
    command
        .add_option("--gpu-tuning", flags.gpuTuning,
                    "How many ways of computing an operator a GPU measures before the first run, of which it takes the "
                    "fastest: none (the default), the 3, 6 or 12 best by estimate, or all")
        ->check(CLI::IsMember({"none", "fast", "normal", "wide", "heavy"}));
    command
        .add_option("--tuning-operators", flags.tuningOperators,
                    "The most operators that --gpu-tuning measures; the others take what earlier sessions "
                    "measured, or "
                    "run as without it (default: all)")
        ->check(CLI::Range(1, INT32_MAX));
    command
        .add_option(
            "--precision", flags.precision,
            "low rounds for speed: a GPU stores tensors as fp16, which halves their memory; a CPU with products of "
            "bf16 multiplies in bf16, one of Arm that has fp16 arithmetic alone in fp16, others compute as in "
            "normal")
        ->check(CLI::IsMember({"low", "normal", "high"}))
        ->capture_default_str();
    command
        .add_option("--memory", flags.memory,
                    "low keeps weights quantised where the model stores them quantised, and does not "
                    "enlarge them for speed")
        ->check(CLI::IsMember({"low", "normal", "high"}))
        ->capture_default_str();
    command.add_flag_callback(
        "--validate",
        [&flags] {
            flags.validate = true;
            runValidated();
        },
        "Check every call of the GPU's driver with its validation layer; any message makes the exit code 1");
    command.add_option("--isa", flags.isa,
                       "Force a CPU instruction set: portable; sse4, avx2, avx512 of x86; neon of Arm "
                       "(default: the best)");
    command
        .add_option("--cpu-costs", flags.cpuCosts,
                    "What 'mnn calibrate' measured on this machine, to choose algorithms with (default: what the "
                    "library knows of such CPUs)")
        ->type_name("FILE");
}

void addCommonTo(CLI::App& command, CommonFlags& flags) {
    addBackendTo(command, flags);
    addSessionFlagsTo(command, flags);
    addShapesTo(command, flags);
}

void addRunsTo(CLI::App& command, int& runs, uint64_t& seed) {
    command.add_option("--runs", runs, "Take medians over this many runs")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    command.add_option("--seed", seed, "Seed of the random inputs")->capture_default_str();
}

void addModelTo(CLI::App& command, std::string& model) {
    command.add_option("MODEL", model, "The .mnn file, or an .onnx file; '-' is standard input, a .mnn file")
        ->required();
}

CLI::Option* addJsonTo(CLI::App& command, bool& json) {
    return command.add_flag(
        "--json", json,
        "Print JSON; docs/tool.md lists its members, whose names stay. What is not known before a run, and "
        "numbers that are not finite, are null");
}

void addTextOutputTo(CLI::App& command, std::string& output) {
    command.add_option("--output", output, "Where to write it; '-' is standard output")
        ->type_name("FILE")
        ->capture_default_str();
}

void addProgressTo(CLI::App& command) {
    const std::vector<std::string> modes(std::begin(kProgressModes), std::end(kProgressModes));
    command
        .add_option_function<std::string>(
            "--progress", setProgress,
            "A line on standard error with what is done and how long the rest takes: auto (the default), where that is "
            "a "
            "terminal, after a second, always or never. None is drawn while something is timed")
        ->check(CLI::IsMember(modes));
}

}  // namespace tool
