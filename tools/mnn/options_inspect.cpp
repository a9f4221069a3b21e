// The options of the commands that describe models and machines.
#include "options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"

namespace tool {

void addInfo(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("info", "Show a model's inputs, outputs, operators, work and memory");
    auto options = std::make_shared<InfoOptions>();
    addModelTo(*command, options->model);
    addJsonTo(*command, options->json);
    command->add_option("--plan", options->plan,
                        "Print the commands instead: 'after:PASS' after one pass of planning, 'all' before the "
                        "first and after each one, 'passes' the names of the passes");
    addProgressTo(*command);
    addCommonTo(*command, options->flags);
    command->footer(
        "Where the model leaves dims open, work and memory need --shape. Operators that this library\n"
        "lacks are listed as unsupported. Then come the settings that hold (instruction set, threads,\n"
        "precision, memory), with the reason where they are not the wanted ones. Placement lists on which\n"
        "backend each operator runs, and why not on the wanted one; host_shape is shape arithmetic on small\n"
        "integer tensors, which stays on the CPU. Operators that compute nothing when running (constants,\n"
        "views) are not listed.\n\n"
        "Examples: mnn info net.mnn --shape data=1x3x320x320 --json\n"
        "          mnn info net.mnn --backend " +
        kGpu + "\n          mnn info net.mnn --plan after:fuse-post-ops");
    command->callback([options, &exitCode] { exitCode = info(*options); });
}

void addDevices(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("devices", "List the devices of all backends");
    auto options = std::make_shared<DevicesOptions>();
    addJsonTo(*command, options->json);
    command->footer(
        "Each device has a number, a UUID and a name; --device of the other commands takes any of\n"
        "them. A backend without a device says what is missing; the exit code is 0 all the same.\n\n"
        "Example: mnn devices && mnn bench net.mnn --backend " +
        kGpu + " --device 0");
    command->callback([options, &exitCode] { exitCode = devices(*options); });
}

void addGraph(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("graph", "Draw a model's graph");
    auto options = std::make_shared<GraphOptions>();
    addModelTo(*command, options->model);
    command
        ->add_option("--output", options->output,
                     "The picture: .html, .dot, or .svg, which needs the program dot of Graphviz; '-' is "
                     "standard output")
        ->type_name("FILE")
        ->capture_default_str();
    CLI::Option* format =
        command
            ->add_option("--format", options->format,
                         "dot, svg or html, also where the name of the file says another one; standard output gets "
                         "dot without it")
            ->check(CLI::IsMember({"dot", "svg", "html"}));
    CLI::Option* profile =
        command->add_flag("--profile", options->profile,
                          "Run the model with random inputs: each operator has its time, and a colour for it");
    addJsonTo(*command, options->json)->excludes(format)->excludes(profile);
    addRunsTo(*command, options->runs, options->seed);
    addProgressTo(*command);
    addCommonTo(*command, options->flags);
    command->footer(
        "Operators are boxes with type, name and algorithm, in the colour of the place where they run, and\n"
        "edges have the shapes of tensors.\n"
        "Operators that are computed together stand in one frame. Bodies of control flow are graphs of "
        "their\n"
        "own. Constants are left out. Where no session can be made, because dims are open or operators are not\n"
        "supported, the graph is drawn without places and shapes. The page is one file that needs no network\n"
        "and no other program; search, drag, click and the wheel of a mouse work in it.\n\n"
        "Examples: mnn graph net.mnn --output net.html --profile\n"
        "          mnn graph - < net.mnn | dot -Tpdf -o net.pdf");
    command->callback([options, &exitCode] { exitCode = graph(*options); });
}

void addVersion(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("version", "Show the library's version, backends and instruction sets");
    auto options = std::make_shared<VersionOptions>();
    addJsonTo(*command, options->json);
    command->footer(
        "The version of the library and of its binary interface, the backends that are compiled in, and the\n"
        "instruction sets that this processor has. 'mnn --version' prints the version alone.");
    command->callback([options, &exitCode] { exitCode = version(*options); });
}

}  // namespace tool
