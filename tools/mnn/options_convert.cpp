// The options of mnn convert.
#include "options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"

namespace tool {

void addConvert(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("convert", "Make a .mnn model of an ONNX model");
    auto options = std::make_shared<ConvertOptions>();
    command->add_option("NET", options->model, "The .onnx file")->required();
    command->add_option("OUTPUT", options->output, "The .mnn file to write")->required();
    command
        ->add_option("--shape", options->shapes,
                     "Shape of an input whose extents the model leaves free: name=1x3x224x224")
        ->type_name("NAME=DIMS");
    command->add_option("--extent", options->extents, "Number for a free extent that has a name: batch=1")
        ->type_name("NAME=N");
    command
        ->add_option("--keep", options->keep,
                     "A value that becomes an output; given once, only such values do (default: the "
                     "outputs of the model)")
        ->type_name("NAME");
    command
        ->add_option(
            "--weights", options->weights,
            "How weights are stored; codes of int8 and int4 are those of convolutions and of products with constant "
            "matrices")
        ->check(CLI::IsMember({"fp32", "fp16", "int8", "int4"}))
        ->capture_default_str();
    command
        ->add_option("--block", options->block,
                     "With int8 and int4: how many weights of a row share a scale, a multiple of 16 (default: the "
                     "row)")
        ->type_name("N");
    command->add_flag("--weights-beside", options->weightsBeside,
                      "Write large arrays into OUTPUT.weight (nets above 1,900 MiB do in any case)");
    command->add_flag(
        "--follow-links", options->followLinks,
        "External data may lie behind a link that leaves the folder of the model, as in caches of model hubs");
    command
        ->add_option("--max-memory", options->maxMemory,
                     "The most MiB that constants may take while they are read and computed (default: 1,024, and 8 "
                     "times the model)")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
        ->type_name("MIB");
    addJsonTo(*command, options->json);
    command->footer(
        "Extents that the model leaves free stay free, unless --shape or --extent gives them numbers. Where\n"
        "nodes have no form, all of them are listed, nothing is written, and the exit code is 1.\n"
        "docs/convert.md lists the operators.\n\n"
        "Examples: mnn convert net.onnx net.mnn\n"
        "          mnn convert net.onnx net.mnn --extent batch=1 --weights fp16\n"
        "          mnn convert net.onnx net.mnn --weights int4 --block 32");
    command->callback([options, &exitCode] { exitCode = convert(*options); });
}

}  // namespace tool
