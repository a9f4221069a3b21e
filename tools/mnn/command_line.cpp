// The flags and help texts of all commands. The only source that includes CLI11, which takes seconds to compile.
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "backend_list.h"
#include "commands.h"
#include "completion.h"
#include "errors.h"
#include "output_file.h"
#include "text.h"
#include "validation_layer.h"

namespace tool {
namespace {

const std::string kGpu = kGpuBackend.name;

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
    command
        .add_option("--shape", flags.shapes, "Shape of an input that the model leaves open: name=1x3x224x224")
        ->type_name("NAME=DIMS");
}

void addCpuCostsTo(CLI::App& command, CommonFlags& flags) {
    command
        .add_option(
            "--cpu-costs", flags.cpuCosts,
            "What 'mnn calibrate' measured on this machine, to choose algorithms with (default: what the "
            "library knows of such CPUs)")
        ->type_name("FILE");
}

// All flags but --backend and --shape.
void addSessionFlagsTo(CLI::App& command, CommonFlags& flags) {
    command.add_option("--threads", flags.threads, "CPU threads of the session")
        ->check(CLI::Range(1, static_cast<int>(MNN_MAX_THREADS)))
        ->capture_default_str();
    command
        .add_option(
            "--device", flags.device,
            "Which GPU: its number, its UUID or a part of its name in 'mnn devices' (default: the best)")
        ->type_name("INDEX|UUID|NAME");
    command
        .add_option(
            "--gpu-mode", flags.gpuMode,
            "How a GPU gets its work: direct, a recording per operator, or indirect, many operators in "
            "one (default: indirect)")
        ->check(CLI::IsMember({"direct", "indirect"}));
    command
        .add_option(
            "--gpu-tuning", flags.gpuTuning,
            "How many ways of computing an operator a GPU measures before the first run; the fastest is "
            "taken (default: none)")
        ->check(CLI::IsMember({"none", "fast", "normal", "wide", "heavy"}));
    command
        .add_option(
            "--precision", flags.precision,
            "low rounds for speed: a GPU stores tensors as fp16, a CPU with AVX512-BF16 multiplies in "
            "bf16 (other CPUs: as normal)")
        ->check(CLI::IsMember({"low", "normal", "high"}))
        ->capture_default_str();
    command
        .add_option("--memory", flags.memory,
                    "low keeps weights quantised where the model stores them quantised, and does not enlarge "
                    "them for speed")
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
    addCpuCostsTo(command, flags);
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

void addInfo(CLI::App& app, int& exitCode) {
    CLI::App* command =
        app.add_subcommand("info", "Show a model's inputs, outputs, operators, work and memory");
    auto options = std::make_shared<InfoOptions>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command->add_flag("--json", options->json, "Print JSON; what is unknown before a run is null");
    command->add_option(
        "--plan", options->plan,
        "Print the commands instead: 'after:PASS' after one pass of planning, 'all' before the "
        "first and after each one, 'passes' the names of the passes");
    addCommonTo(*command, options->flags);
    command->footer(
        "Where the model leaves dims open, work and memory need --shape. Operators that this library\n"
        "lacks are listed as unsupported. Placement lists on which backend each operator runs, and why not\n"
        "on the wanted one; host_shape is shape arithmetic on small integer tensors, which stays on\n"
        "the CPU. Operators that compute nothing when running (constants, views) are not listed.\n\n"
        "Examples: mnn info net.mnn --shape data=1x3x320x320 --json\n"
        "          mnn info net.mnn --backend " +
        kGpu + "\n          mnn info net.mnn --plan after:fuse-post-ops");
    command->callback([options, &exitCode] { exitCode = info(*options); });
}

void addRun(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("run", "Run a model on tensors and images in files");
    auto options = std::make_shared<RunOptions>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command
        ->add_option(
            "--input", options->inputs,
            "An input: .npy, numbers in .csv or .json, bytes in .raw or .bin, '-' for standard input, or "
            ".png .jpg .bmp ... for image inputs")
        ->type_name("NAME=FILE");
    CLI::Option* output =
        command
            ->add_option(
                "--output", options->output,
                "Write every output to DIR/<name>.npy ('/' becomes '_'); '-' writes the only output to "
                "standard output")
            ->type_name("DIR");
    CLI::Option* json =
        command->add_flag("--json", options->json, "Print the outputs with their values as JSON");
    json->excludes(output);
    command
        ->add_option("--mean", options->image.mean,
                     "Images: subtract this from 0..255, one number or one a channel")
        ->delimiter(',');
    command->add_option("--scale", options->image.scale, "Images: multiply by this afterwards")
        ->delimiter(',');
    command->add_flag("--bgr", options->image.bgr, "Images: blue first (default: red first)");
    command->add_option("--top", options->top, "Print the K largest elements of every output")
        ->type_name("K")
        ->excludes(json);
    command->add_option("--labels", options->labels, "Names for --top, one a line")->type_name("FILE");
    addCommonTo(*command, options->flags);
    command->footer(
        "An .npy or .json array sets the shape of its input; .csv, .raw and .bin files have it. Images are\n"
        "resized to the shape of their input.\n"
        "'mnn info MODEL' lists the inputs.\n\n"
        "Example: mnn run net.mnn --input data=cat.png --mean 123.7,116.3,103.5 --scale 0.0171,0.0175,0.0174 "
        "\\\n"
        "             --top 5 --labels names.txt");
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

void addVerify(CLI::App& app, int& exitCode) {
    CLI::App* command =
        app.add_subcommand("verify", "Run case folders and compare with their expected outputs");
    auto options = std::make_shared<VerifyOptions>();
    command
        ->add_option("CASE_DIR", options->folders,
                     "Folders with a case.npz or a case.json, or folders of such folders")
        ->required();
    addBackendTo(*command, options->flags);
    addSessionFlagsTo(*command, options->flags);
    command
        ->add_option("--tolerance", options->tolerance,
                     "Largest error instead of the cases' own, for example 2e-2 with --precision low")
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--unmatched", options->unmatched,
                     "How many rows of an unordered list may have no partner, instead of the cases' own: a\n"
                     "detector with --precision low keeps other boxes where two score almost the same")
        ->check(CLI::NonNegativeNumber);
    command->footer(
        "A case folder holds model.mnn and case.npz, a zip file without compression, which holds inputs and\n"
        "expected outputs as .npy, and case.json. These may lie in the folder as files of their own, too.\n"
        "An output passes when its shape and type are right, no element is NaN, integers are equal and\n"
        "max|ours - expected| / max|expected| is within the case's tolerance. The last line counts the "
        "cases;\n"
        "the exit code is 0 only when none failed.\n\n"
        "Examples: mnn verify models/*/ --threads 2\n"
        "          mnn verify models/*/ --backend " +
        kGpu + " --validate\n          mnn verify models/*/ --backend " + kGpu +
        " --precision low --tolerance 2e-2");
    command->callback([options, &exitCode] { exitCode = verify(*options); });
}

void addBench(CLI::App& app, int& exitCode, uint64_t residentAtStart) {
    CLI::App* command = app.add_subcommand("bench", "Time a model with random inputs");
    auto options = std::make_shared<BenchOptions>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command->add_flag("--json", options->json, "Print JSON");
    command->add_option("--seconds", options->seconds, "Measure for about this long")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of the random inputs")->capture_default_str();
    addCommonTo(*command, options->flags);
    command->footer(
        "Inputs are written again before each run, which the times leave out. Times are in ms; memory is\n"
        "the peak of the resident set above that of the process at its start.\n\n"
        "Example: taskset -c 0 mnn bench net.mnn --shape data=1x3x320x320 --json");
    command->callback([options, &exitCode, residentAtStart] { exitCode = bench(*options, residentAtStart); });
}

void addCompare(CLI::App& app, int& exitCode) {
    CLI::App* command =
        app.add_subcommand("compare", "Compare two backends operator by operator, with random inputs");
    auto options = std::make_shared<CompareOptions>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command
        ->add_option("--backends", options->backends,
                     "The trusted one and the one to check (default: cpu," + kGpu + ")")
        ->delimiter(',')
        ->type_name("A,B")
        ->check(CLI::IsMember(backendNames(false)));
    command->add_option("--tolerance", options->tolerance, "Largest max|a - b| / max|a| of a tensor")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of the random inputs, whose values lie in [0, 1)")
        ->capture_default_str();
    addSessionFlagsTo(*command, options->flags);
    addShapesTo(*command, options->flags);
    command->footer(
        "One line for each operator's result, in the order of the model: same or DRIFT, the error, where\n"
        "B ran it ('-': it computes nothing when running), type and tensor. The command ends at the first\n"
        "DRIFT with exit code 1: the results before it are right, so that operator is the one to look at.\n"
        "Where values lie close together, positions (TopK, ArgMax) may differ without a defect.\n"
        "Both sessions keep every result, which takes more memory than a plain run. Operators inside\n"
        "of loops and branches are compared through their results only.\n\n"
        "Examples: mnn compare net.mnn --backends cpu," +
        kGpu + "\n          mnn compare net.mnn --precision low --tolerance 3e-2 --device 0 --validate");
    command->callback([options, &exitCode] { exitCode = compare(*options); });
}

void addDevices(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("devices", "List the devices of all backends");
    auto options = std::make_shared<DevicesOptions>();
    command->add_flag("--json", options->json, "Print JSON: a list of backends");
    command->footer(
        "Each device has a number, a UUID and a name; --device of the other commands takes any of\n"
        "them. A backend without a device says what is missing; the exit code is 0 all the same.\n\n"
        "Example: mnn devices && mnn bench net.mnn --backend " +
        kGpu + " --device 0");
    command->callback([options, &exitCode] { exitCode = devices(*options); });
}

void addCalibrate(CLI::App& app, int& exitCode) {
    CLI::App* command =
        app.add_subcommand("calibrate", "Measure how long parts of convolutions take on this CPU");
    auto options = std::make_shared<CalibrateOptions>();
    command->add_option("--output", options->output, "Where the numbers go; '-' is standard output")
        ->type_name("FILE")
        ->capture_default_str();
    command->add_option("--isa", options->isas, "Instruction sets to measure (default: the best)")
        ->delimiter(',')
        ->type_name("A,B");
    command->footer(
        "With --cpu-costs FILE other commands choose between algorithms by these numbers; a program gives "
        "the\n"
        "text to its runtime (cpu_costs). Without it the library takes what it knows of this or a similar "
        "CPU,\n"
        "so that all processes choose alike. Nothing else should run on the machine meanwhile.\n\n"
        "Example: mnn calibrate --output cpu.txt && mnn profile net.mnn --algorithms --cpu-costs cpu.txt");
    command->callback([options, &exitCode] { exitCode = calibrate(*options); });
}

void addProfile(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("profile", "Time every operator of a model with random inputs");
    auto options = std::make_shared<ProfileOptions>();
    command->add_option("MODEL", options->model, "The .mnn file; '-' is standard input")->required();
    command->add_flag("--json", options->json, "Print JSON");
    CLI::Option* algorithms = command->add_flag(
        "--algorithms", options->algorithms,
        "List the algorithm of every operator instead of times, and under each float convolution of the "
        "CPU, fused ones too, all algorithms that accept it with their estimated cycles on one thread and "
        "the time that each takes ('*': the chosen one, '!': another took less than 0.9 of its time)");
    command->add_option("--top", options->top,
                        "Show the K operators that take longest (default: all, in order)");
    command->add_option("--trace", options->trace, "Write the last run as a Chrome trace to this file")
        ->type_name("FILE");
    command
        ->add_option("--output", options->output,
                     "Write a page with bars, sums and a timeline of the last run; '-' is standard output")
        ->type_name("FILE.html")
        ->excludes(algorithms);
    addRunsTo(*command, options->runs, options->seed);
    addCommonTo(*command, options->flags);
    command->footer(
        "GFLOP/s count what the operator's definition needs: algorithms that save products can pass the "
        "peak,\n"
        "which is measured here and now with the widest fp32 multiply-adds. A GPU measures its operators by\n"
        "its own clock, one after another; without a clock the first of them is shown with the time of "
        "all.\n\n"
        "Example: taskset -c 0 mnn profile net.mnn --top 20 --trace net.json\n"
        "          mnn profile net.mnn --output profile.html");
    command->callback([options, &exitCode] { exitCode = profile(*options); });
}

void addGraph(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("graph", "Draw a model's graph");
    auto options = std::make_shared<GraphOptions>();
    command->add_option("MODEL", options->model, "The .mnn file; '-' is standard input")->required();
    command
        ->add_option("--output", options->output,
                     "The picture: .html, .dot, or .svg, which needs the program dot of Graphviz; '-' is "
                     "standard output")
        ->type_name("FILE")
        ->capture_default_str();
    command->add_option("--format", options->format, "dot, svg or html, whatever the name of the file is")
        ->check(CLI::IsMember({"dot", "svg", "html"}));
    command->add_flag("--profile", options->profile,
                      "Run the model with random inputs: each operator has its time, and a colour for it");
    addRunsTo(*command, options->runs, options->seed);
    addCommonTo(*command, options->flags);
    command->footer(
        "Operators are boxes, in the colour of the place where they run, and edges have the shapes of "
        "tensors.\n"
        "Operators that are computed together stand in one frame. Bodies of control flow are graphs of "
        "their\n"
        "own. Constants are left out. Where no session can be made, the graph is drawn without places and\n"
        "shapes. The page needs no network; search, drag and the wheel of a mouse work in it.\n\n"
        "Examples: mnn graph net.mnn --output net.html --profile\n"
        "          mnn graph net.mnn | dot -Tpdf -o net.pdf");
    command->callback([options, &exitCode] { exitCode = graph(*options); });
}

// The names inside of "TEXT:{a,b}", which CLI11 says of an option that takes one of them.
std::vector<std::string> valuesOf(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const size_t begin = type.find('{'), end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return {};
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::vector<OptionWords> optionsOf(const CLI::App& command) {
    std::vector<OptionWords> options;
    for (const CLI::Option* option : command.get_options()) {
        const std::string type = option->get_type_name();
        OptionWords words;
        words.description = option->get_description();
        words.takesValue = option->get_items_expected_max() > 0;
        words.takesFile = type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos;
        words.values = valuesOf(*option);
        for (const std::string& name : option->get_snames()) {
            words.name = '-' + name;
            options.push_back(words);
        }
        for (const std::string& name : option->get_lnames()) {
            words.name = "--" + name;
            options.push_back(words);
        }
    }
    return options;
}

void addCompletion(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("completion", "Print a script that completes command lines in a shell");
    auto shell = std::make_shared<std::string>();
    auto output = std::make_shared<std::string>(kStandardStream);
    command->add_option("SHELL", *shell, "The shell")->required()->check(CLI::IsMember(kShells));
    command->add_option("--output", *output, "Where to write the script; '-' is standard output")
        ->type_name("FILE")
        ->capture_default_str();
    command->footer(
        "The packages install the scripts. Otherwise:\n"
        "  bash: source <(mnn completion bash)\n"
        "  zsh:  source <(mnn completion zsh)\n"
        "  fish: mnn completion fish | source");
    command->callback([&app, shell, output] {
        std::vector<CommandWords> commands;
        for (const CLI::App* each : app.get_subcommands({})) {
            CommandWords words{each->get_name(), each->get_description(), optionsOf(*each), false, {}};
            for (const CLI::Option* option : each->get_options()) {
                if (!option->get_positional()) continue;
                words.values = valuesOf(*option);
                words.takesFile = words.values.empty();
            }
            commands.push_back(std::move(words));
        }
        writeOutput(*output, completionScript(*shell, commands, optionsOf(app)));
    });
}

// CLI11 would only say that a command is missing.
void requireKnownCommand(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    std::string names;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (command->get_name() == argv[1]) return;
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    throw UsageError(text::format("there is no command '{}'; the commands are {}", argv[1], names));
}

}  // namespace

int runCommandLine(int argc, char** argv, uint64_t residentAtStart) {
    int exitCode = 0;
    CLI::App app{"mnn - inspects, runs, checks and times .mnn neural networks"};
    app.set_version_flag("--version", std::string("mnn ") + mnn_version());
    app.require_subcommand(1);
    app.get_formatter()->column_width(36);
    app.footer(
        "Examples:\n"
        "  mnn info net.mnn\n"
        "  mnn run net.mnn --input data=photo.png --mean 123.7,116.3,103.5 --scale 0.0171,0.0175,0.0174 \\\n"
        "      --top 5 --labels names.txt --output results\n"
        "  mnn run net.mnn --input tokens=tokens.npy --output results\n"
        "  mnn verify cases/*/ --threads 2\n"
        "  mnn bench net.mnn --threads 2 --json\n"
        "  mnn profile net.mnn --top 20\n"
        "  mnn graph net.mnn --output net.html\n"
        "  mnn devices\n"
        "  mnn calibrate --output cpu.txt\n"
        "  mnn info net.mnn --backend " +
        kGpu + "\n  mnn compare net.mnn --backends cpu," + kGpu +
        "\n'mnn COMMAND --help' describes a command. Exit codes: 0 success, 1 something failed, 2 wrong "
        "usage.");
    addInfo(app, exitCode);
    addRun(app, exitCode);
    addVerify(app, exitCode);
    addBench(app, exitCode, residentAtStart);
    addCompare(app, exitCode);
    addDevices(app, exitCode);
    addCalibrate(app, exitCode);
    addProfile(app, exitCode);
    addGraph(app, exitCode);
    addCompletion(app);
    requireKnownCommand(app, argc, argv);
    try {
        app.parse(argc, argv);
        return exitCode;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
}

}  // namespace tool
