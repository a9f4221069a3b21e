// The options of the commands that measure, and of the one that compares backends.
#include "options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"

namespace tool {

void addBench(CLI::App& app, int& exitCode, uint64_t residentAtStart) {
    CLI::App* command = app.add_subcommand("bench", "Time a model with random inputs");
    auto options = std::make_shared<BenchOptions>();
    addModelTo(*command, options->model);
    addJsonTo(*command, options->json);
    command->add_option("--seconds", options->seconds, "Measure for about this long")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of the random inputs")->capture_default_str();
    addProgressTo(*command);
    addCommonTo(*command, options->flags);
    command->footer(
        "Inputs are written again before each run, which the times leave out. Times are in ms; memory is\n"
        "the peak of the resident set above that of the process at its start.\n\n"
        "Example: taskset -c 0 mnn bench net.mnn --shape data=1x3x320x320 --json");
    command->callback([options, &exitCode, residentAtStart] { exitCode = bench(*options, residentAtStart); });
}

void addCompare(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("compare", "Compare two backends operator by operator, with random inputs");
    auto options = std::make_shared<CompareOptions>();
    addModelTo(*command, options->model);
    command
        ->add_option("--backends", options->backends,
                     "The trusted one and the one to check (default: cpu," + kGpu + ")")
        ->delimiter(',')
        ->type_name("A,B")
        ->check(CLI::IsMember(backendNames(false)));
    command->add_option("--tolerance", options->tolerance, "Largest max|a - b| / max|a| of a tensor")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_flag("--fused", options->fused,
                      "Compare the nets as they are planned for running: only results that both backends have");
    addJsonTo(*command, options->json);
    addProgressTo(*command);
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
        "of loops and branches are compared through their results only.\n"
        "So that every operator has a result, none is computed together with others. With --fused they are,\n"
        "as in a plain run, and those of loops and branches are compared, too.\n\n"
        "Examples: mnn compare net.mnn --backends cpu," +
        kGpu + "\n          mnn compare net.mnn --precision low --tolerance 3e-2 --device 0 --validate");
    command->callback([options, &exitCode] { exitCode = compare(*options); });
}

void addCalibrate(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("calibrate", "Measure how long parts of convolutions take on this CPU");
    auto options = std::make_shared<CalibrateOptions>();
    addTextOutputTo(*command, options->output);
    addJsonTo(*command, options->json);
    addProgressTo(*command);
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
    addModelTo(*command, options->model);
    addJsonTo(*command, options->json);
    CLI::Option* algorithms = command->add_flag(
        "--algorithms", options->algorithms,
        "List the algorithm of every operator instead of times, and under each float convolution of the "
        "CPU, fused ones too, all algorithms that accept it with their estimated cycles on one thread and "
        "the time that each takes ('*': the chosen one, '!': another took less than 0.9 of its time)");
    command->add_option("--top", options->top, "Show the K operators that take longest (default: all, in order)");
    command
        ->add_option(
            "--trace", options->trace,
            "Write the last run as a Chrome trace to this file; '-' is standard output, which gets it in place "
            "of the times")
        ->type_name("FILE");
    command
        ->add_option(
            "--output", options->output,
            "Write a page with bars, sums and a timeline of the last run; '-' is standard output, which gets it in "
            "place of the times")
        ->type_name("FILE.html")
        ->excludes(algorithms);
    addRunsTo(*command, options->runs, options->seed);
    addProgressTo(*command);
    addCommonTo(*command, options->flags);
    command->footer(
        "Operators are in the order of the model, then come sums for each type and algorithm.\n"
        "GFLOP/s count what the operator's definition needs: algorithms that save products can pass the "
        "peak,\n"
        "which is measured here and now with the widest fp32 multiply-adds. A GPU measures its operators by\n"
        "its own clock, one after another; without a clock the first of them is shown with the time of "
        "all.\n\n"
        "Examples: taskset -c 0 mnn profile net.mnn --top 20 --trace net.json\n"
        "          mnn profile net.mnn --output profile.html");
    command->callback([options, &exitCode] { exitCode = profile(*options); });
}

}  // namespace tool
