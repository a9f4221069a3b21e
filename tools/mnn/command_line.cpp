// Defines all commands, help, version and exit codes.
#include "command_line.h"

#include <CLI/CLI.hpp>

#include "errors.h"
#include "options.h"
#include "text.h"

namespace tool {
namespace {

// Names the unknown command: CLI11 would only report that a command is missing.
void requireKnownCommand(const CLI::App& app, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    std::string names;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (command->get_name() == argv[1]) return;
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    throw UsageError(fmt::format("there is no command '{}'; the commands are {}", argv[1], names));
}

// Returns the message about wrong usage, with the name of the command.
std::string usageMessage(const CLI::App* app, const CLI::Error& error) {
    std::string command = "mnn";
    for (const CLI::App* parsed : app->get_subcommands()) command += " " + parsed->get_name();
    return fmt::format("{}: {}\n'{} --help' lists what it takes.\n", command, error.what(), command);
}

}  // namespace

int runCommandLine(int argc, char** argv, uint64_t residentAtStart) {
    int exitCode = 0;
    CLI::App app{"mnn - inspects, runs, checks and times .mnn neural networks"};
    app.set_version_flag("--version", std::string("mnn ") + mnn_version());
    app.require_subcommand(1);
    app.allow_windows_style_options(false);  // words that begin with a slash are paths on Windows, too
    app.failure_message(usageMessage);
    app.get_formatter()->column_width(36);
    app.footer(
        "mnn works on neural networks in the .mnn format, which 'mnn convert' makes of ONNX models, and the public\n"
        "converter of ONNX, TensorFlow, TFLite, Caffe and TorchScript models. Every command takes an .onnx file,\n"
        "too, and converts it in memory. It runs them with libmnn_c, on the CPU or on a GPU.\n\n"
        "Examples:\n"
        "  mnn info net.mnn\n"
        "  mnn run net.mnn --input data=photo.png --mean 123.7,116.3,103.5 --scale 0.0171,0.0175,0.0174 \\\n"
        "      --top 5 --labels names.txt --output results\n"
        "  mnn run net.mnn --input tokens=tokens.npy --output results\n"
        "  mnn run detector.mnn --image photo.jpg --draw boxes.png\n"
        "  mnn generate llm --tokens 1,15043,2787 --count 20\n"
        "  mnn verify cases/*/ --threads 2\n"
        "  mnn bench net.mnn --threads 2 --json\n"
        "  mnn profile net.mnn --top 20\n"
        "  mnn graph net.mnn --output net.html\n"
        "  mnn convert net.onnx net.mnn\n"
        "  mnn devices\n"
        "  mnn calibrate --output cpu.txt\n"
        "  mnn info net.mnn --backend " +
        kGpu + "\n  mnn compare net.mnn --backends cpu," + kGpu +
        "\n\n'mnn COMMAND --help' describes a command. Exit codes: 0 success; 1 something failed: a file, a model, a\n"
        "run, a case of verify, a drift in compare, a message of the validation layer; 2 wrong usage.");
    addInfo(app, exitCode);
    addRun(app, exitCode);
    addGenerate(app, exitCode);
    addVerify(app, exitCode);
    addBench(app, exitCode, residentAtStart);
    addCompare(app, exitCode);
    addConvert(app, exitCode);
    addDevices(app, exitCode);
    addCalibrate(app, exitCode);
    addProfile(app, exitCode);
    addGraph(app, exitCode);
    addVersion(app, exitCode);
    addCompletion(app);
    addManual(app);
    requireKnownCommand(app, argc, argv);
    try {
        app.parse(argc, argv);
        return exitCode;
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
}

}  // namespace tool
