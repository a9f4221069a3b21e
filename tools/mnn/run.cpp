// mnn run: one run of a model on files, its outputs as files.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "common.h"
#include "image.h"

namespace tool {
namespace {

struct Options {
    CommonFlags flags;
    ImageFlags image;
    std::string model;
    std::vector<std::string> inputs;  // name=file, or a file alone where the model has one input
    std::string output;
    size_t top = 0;
    std::string labels;
};

struct Source {
    mnn_tensor_t* tensor;
    std::string file;
    Array array;  // read already for .npy files
};

std::vector<Source> matchInputs(const Session& session, const Options& options) {
    const std::vector<mnn_tensor_t*> inputs = inputsOf(session);
    std::vector<Source> sources;
    std::set<std::string> given;
    for (const std::string& text : options.inputs) {
        mnn_tensor_t* tensor = nullptr;
        // Names may hold '=' and so may paths: take the first split whose left side is an input.
        size_t equals = text.find('=');
        for (; equals != std::string::npos; equals = text.find('=', equals + 1))
            if (mnn_session_input(session.get(), text.substr(0, equals).c_str(), &tensor) == MNN_OK) break;
        std::string file = text;
        if (tensor)
            file = text.substr(equals + 1);
        else if (inputs.size() == 1 && std::filesystem::exists(text))
            tensor = inputs[0];
        else
            throw UsageError(
                fmt::format("--input {}: {}", text,
                            text.find('=') == std::string::npos ? "write name=file" : mnn_last_error()));
        if (!given.insert(nameOf(tensor)).second)
            throw UsageError(fmt::format("--input gives '{}' twice", nameOf(tensor)));
        sources.push_back({tensor, file, {}});
    }
    for (const mnn_tensor_t* input : inputs)
        if (!given.count(nameOf(input)))
            throw UsageError(fmt::format("input '{}' ({}) is missing: give --input {}=FILE", nameOf(input),
                                         shapeText(shapeOf(input)), nameOf(input)));
    return sources;
}

void feed(const Session& session, const Options& options, std::vector<Source>& sources) {
    for (Source& source : sources) {
        if (isImageFile(source.file)) continue;
        source.array = readNpy(source.file);
        if (source.array.shape != shapeOf(source.tensor))
            resizeInput(session, source.tensor, source.array.shape);
    }
    requireShapes(session);
    check(mnn_session_resize(session.get()));
    for (Source& source : sources) {
        if (isImageFile(source.file)) {
            int32_t format = MNN_FORMAT_NCHW;
            check(mnn_tensor_format(source.tensor, &format));
            source.array =
                readImage(source.file, shapeOf(source.tensor), format == MNN_FORMAT_NHWC, options.image);
        }
        writeTensor(source.tensor, source.array);
    }
}

std::vector<std::string> readLabels(const std::string& path) {
    std::vector<std::string> labels;
    if (path.empty()) return labels;
    std::ifstream in(path);
    if (!in) throw ToolError(fmt::format("cannot open '{}'", path));
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        labels.push_back(line);
    }
    return labels;
}

void printTop(const std::string& name, const Array& array, size_t top,
              const std::vector<std::string>& labels) {
    std::vector<size_t> order(array.count());
    std::iota(order.begin(), order.end(), size_t{0});
    top = std::min(top, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](size_t a, size_t b) { return valueAt(array, a) > valueAt(array, b); });
    fmt::print("top {} of '{}':\n", top, name);
    for (size_t i = 0; i < top; i++)
        fmt::print("  {:>6}  {:<12.6g} {}\n", order[i], valueAt(array, order[i]),
                   order[i] < labels.size() ? labels[order[i]] : "");
}

std::string fileName(const std::string& output) {
    std::string name = output;
    std::replace(name.begin(), name.end(), '/', '_');
    return name + ".npy";
}

void run(const Options& options) {
    options.flags.checkTogether();
    const std::vector<std::string> labels = readLabels(options.labels);
    const Interpreter model = openModel(options.model);
    const Session session = createSession(model, options.flags);
    applyShapes(session, options.flags);
    std::vector<Source> sources = matchInputs(session, options);
    feed(session, options, sources);
    check(mnn_session_run(session.get()));

    if (!options.output.empty()) {
        std::error_code error;
        std::filesystem::create_directories(options.output, error);
        if (error)
            throw ToolError(fmt::format("cannot make the folder '{}': {}", options.output, error.message()));
    }
    for (const mnn_tensor_t* tensor : outputsOf(session)) {
        const std::string name = nameOf(tensor);
        const Array array = readTensor(tensor);
        if (!options.output.empty()) {
            const std::filesystem::path path = std::filesystem::path(options.output) / fileName(name);
            writeNpy(path, array);
            fmt::print("{}: {} {} -> {}\n", name, shapeText(array.shape), elementName(array.element),
                       path.string());
        } else if (options.top == 0) {
            fmt::print("{}: {} {}\n", name, shapeText(array.shape), elementName(array.element));
        }
        if (options.top > 0) printTop(name, array, options.top, labels);
    }
}

}  // namespace

void addRun(CLI::App& app) {
    CLI::App* command = app.add_subcommand("run", "Run a model on .npy or image files");
    auto options = std::make_shared<Options>();
    command->add_option("MODEL", options->model, "The .mnn file")->required();
    command->add_option("--input", options->inputs, "An input: .npy, or .png .jpg .bmp ... for image inputs")
        ->type_name("NAME=FILE");
    command->add_option("--output", options->output, "Write every output to DIR/<name>.npy ('/' becomes '_')")
        ->type_name("DIR");
    command
        ->add_option("--mean", options->image.mean,
                     "Images: subtract this from 0..255, one number or one a channel")
        ->delimiter(',');
    command->add_option("--scale", options->image.scale, "Images: multiply by this afterwards")
        ->delimiter(',');
    command->add_flag("--bgr", options->image.bgr, "Images: blue first (default: red first)");
    command->add_option("--top", options->top, "Print the K largest elements of every output")
        ->type_name("K");
    command->add_option("--labels", options->labels, "Names for --top, one a line")->type_name("FILE");
    options->flags.addTo(*command);
    command->footer(
        "An .npy array sets the shape of its input. Images are resized to the shape of their input.\n"
        "'mnn info MODEL' lists the inputs.\n\n"
        "Example: mnn run net.mnn --input data=cat.png --mean 123.7,116.3,103.5 --scale 0.0171,0.0175,0.0174 "
        "\\\n"
        "             --top 5 --labels names.txt");
    command->callback([options] { run(*options); });
}

}  // namespace tool
