// The options of the commands that run models for their outputs.
#include "options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"

namespace tool {

void addRun(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("run", "Run a model on tensors and images in files");
    auto options = std::make_shared<RunOptions>();
    addModelTo(*command, options->model);
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
    CLI::Option* json = addJsonTo(*command, options->json);
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
    addJsonTo(*command, options->json);
    addProgressTo(*command);
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

}  // namespace tool
