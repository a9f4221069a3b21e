// The options of the commands that run models and use their outputs.
#include "options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"

namespace tool {

namespace {

template <size_t Count>
std::vector<std::string> listOf(const char* const (&names)[Count]) {
    return {names, names + Count};
}

void addPicturesTo(CLI::App& command, RunOptions& options) {
    command
        .add_option(
            "--image", options.images,
            "Pictures for the input that has no --input: files, folders, patterns such as "
            "'photos/*.jpg', or '-' for "
            "standard input. Each has a result of its own; one that cannot be read is reported, the others go on, and "
            "the exit code is 1")
        ->type_name("FILE|DIR|PATTERN");
    command
        .add_option("--batch", options.batch,
                    "Pictures to run at once, where the outputs have a part for each of them (default: up to 8)")
        ->check(CLI::Range(size_t{1}, size_t{1024}));
    command
        .add_option("--mean", options.image.mean, "Pictures: subtract this from 0..255, one number or one a channel")
        ->delimiter(',');
    command.add_option("--scale", options.image.scale, "Pictures: multiply by this afterwards")->delimiter(',');
    command.add_flag("--bgr", options.image.bgr, "Pictures: blue first (default: red first)");
    command.add_flag("--letterbox", options.image.letterbox,
                     "Pictures: keep their proportions, with grey (114) beside them, as YOLO nets want it "
                     "(default: each fills the input)");
}

void addBoxesTo(CLI::App& command, RunOptions& options) {
    BoxFlags& boxes = options.boxes;
    command.add_flag("--detect", options.detect,
                     "Print the boxes that a detector found, in pixels of the picture, in place of its outputs");
    command
        .add_option("--draw", options.draw,
                    "Draw the boxes on the picture and write it as PNG; of several pictures to "
                    "DIR/<picture>.png; '-' is "
                    "standard output")
        ->type_name("FILE|DIR");
    command.add_option("--boxes", boxes.boxes, "The output with a row for each box (default: recognised)")
        ->type_name("NAME");
    command
        .add_option("--scores", boxes.scores,
                    "The output with the scores of the boxes, one for each or one for each class (default: "
                    "recognised)")
        ->type_name("NAME");
    command.add_option("--classes", boxes.classes, "The output with the classes of the boxes (default: recognised)")
        ->type_name("NAME");
    command
        .add_option("--columns", boxes.columns,
                    "What the numbers of a box are: edges x1 y1 x2 y2, centre cx cy, extents w h, score, class, '-' "
                    "for what "
                    "is not read, and at the end 'classes' for a score of each class, as in x1,y1,x2,y2,score,class")
        ->delimiter(',')
        ->type_name("A,B,...");
    command
        .add_option("--box-unit", boxes.unit,
                    "Coordinates are pixels of the input or fractions of it; auto takes fractions where no "
                    "coordinate passes 2")
        ->check(CLI::IsMember(listOf(kUnitNames)))
        ->capture_default_str();
    command.add_option("--min-score", boxes.choice.minScore, "Leave out boxes with smaller scores")
        ->capture_default_str();
    command
        .add_option("--overlap", boxes.choice.overlap,
                    "Leave out a box that shares more than this part (intersection over union) with a better one of "
                    "its "
                    "class (default: 0.45 where the outputs have a score for each class, else none is left out)")
        ->check(CLI::Range(0.0, 1.0));
    command.add_option("--background", boxes.choice.background, "A class that is none, such as 0 of many SSD nets")
        ->check(CLI::Range(int64_t{0}, int64_t{INT32_MAX}));
}

}  // namespace

void addRun(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("run", "Run a model on tensors and images in files");
    auto options = std::make_shared<RunOptions>();
    addModelTo(*command, options->model);
    command
        ->add_option("--input", options->inputs,
                     "An input: .npy, numbers in .csv or .json, bytes in .raw or .bin, a picture (.png .jpg "
                     ".bmp ...), or '-' "
                     "for standard input, which may be any of these but bytes")
        ->type_name("NAME=FILE");
    CLI::Option* output =
        command
            ->add_option("--output", options->output,
                         "Write every output to DIR/<name>.npy ('_' for what names of files cannot have), of several "
                         "pictures to DIR/<picture>/<name>.npy; '-' writes the only output to standard output")
            ->type_name("DIR");
    CLI::Option* json = addJsonTo(*command, options->json);
    json->excludes(output);
    command->add_option("--top", options->top, "Print the K largest elements of every output")
        ->type_name("K")
        ->excludes(json);
    command
        ->add_option("--labels", options->labels,
                     "Names of classes for --top and boxes, one a line; '-' is standard input")
        ->type_name("FILE");
    addPicturesTo(*command, *options);
    addBoxesTo(*command, *options);
    addProgressTo(*command);
    addCommonTo(*command, options->flags);
    command->footer(
        "An .npy or .json array sets the shape of its input; .csv, .raw and .bin files have it. Pictures "
        "are\n"
        "resized to the shape of their input. 'mnn info MODEL' lists the inputs.\n"
        "Boxes come from the outputs that --boxes, --scores and --classes name and whose rows --columns\n"
        "describes. Without these they are recognised: what DetectionPostProcess and DetectionOutput make,\n"
        "outputs with 'box', 'score' and 'label' or 'class' in their names, and one output with rows of\n"
        "x1,y1,x2,y2,score,class.\n\n"
        "Examples: mnn run net.mnn --input data=cat.png --mean 123.7,116.3,103.5 --scale "
        "0.0171,0.0175,0.0174 "
        "\\\n"
        "              --top 5 --labels names.txt\n"
        "          mnn run net.mnn --image photos --top 1\n"
        "          mnn run detector.mnn --image street.jpg --draw boxes.png --labels names.txt\n"
        "          mnn run yolo.mnn --image street.jpg --letterbox --scale 0.00392 \\\n"
        "              --columns cx,cy,w,h,classes --draw boxes.png");
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

void addGenerate(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("generate", "Go on with the tokens of a prompt, by a language model");
    auto options = std::make_shared<GenerateOptions>();
    command->add_option("DIR", options->model, "A folder that the exporter llmexport wrote")->required();
    command->add_option("--tokens", options->tokens, "The prompt, as numbers of tokens")
        ->required()
        ->delimiter(',')
        ->type_name("A,B,...");
    command->add_option("--count", options->count, "How many tokens to make: each time the likeliest one")
        ->capture_default_str();
    command->add_option("--chunk", options->chunk, "How many tokens of the prompt to compute in one run (default: all)")
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--logits", options->logits,
                     "Write the logits behind each token, those of the prompt first, to an .npy file; '-' is standard "
                     "output, and the tokens go to standard error")
        ->type_name("FILE");
    command->add_flag("--half-state", options->halves, "Keep keys and values in 16 bits");
    command->add_flag(
        "--as-exported", options->asExported,
        "Take precision and memory from the folder's config.json where no option gives them: the exporter "
        "writes low for both (default: normal)");
    addJsonTo(*command, options->json);
    addProgressTo(*command);
    addBackendTo(*command, options->flags);
    addSessionFlagsTo(*command, options->flags);
    command->footer(
        "Tokens are numbers: what texts they stand for is the tokenizer's to say. The numbers that are made\n"
        "are printed in one line.\n"
        "The logits of precision and memory normal are exact to some 1e-6 of the largest one. With low ones,\n"
        "as the exporter writes them, they differ by up to some percent. The settings that held are printed on\n"
        "standard error, and are members of --json.\n\n"
        "Example: mnn generate llm --tokens 1,15043,2787 --count 20 --threads 2");
    command->callback([command, options, &exitCode] {
        options->givesPrecision = command->count("--precision") > 0;
        options->givesMemory = command->count("--memory") > 0;
        exitCode = generate(*options);
    });
}

void addVerify(CLI::App& app, int& exitCode) {
    CLI::App* command = app.add_subcommand("verify", "Run case folders and compare with their expected outputs");
    auto options = std::make_shared<VerifyOptions>();
    command
        ->add_option("CASE_DIR", options->folders, "Folders with a case.npz or a case.json, or folders of such folders")
        ->required();
    addBackendTo(*command, options->flags);
    addSessionFlagsTo(*command, options->flags);
    command
        ->add_option("--tolerance", options->tolerance,
                     "Largest error instead of the cases' own, for example 2e-2 with --precision low")
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--unmatched", options->unmatched,
                     "How many rows of an unordered list may have no partner, instead of the cases' own: a "
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
        kGpu + " --validate\n          mnn verify models/*/ --backend " + kGpu + " --precision low --tolerance 2e-2");
    command->callback([options, &exitCode] { exitCode = verify(*options); });
}

}  // namespace tool
