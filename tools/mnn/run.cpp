// mnn run: one run of a model on files, its outputs as files.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "commands.h"
#include "common.h"
#include "image.h"
#include "json.h"
#include "output_file.h"
#include "tensor_file.h"
#include "text.h"

namespace tool {
namespace {

struct Source {
    mnn_tensor_t* tensor;
    std::string file;
    Array array;  // read already where it is no image
};

std::vector<Source> matchInputs(const Session& session, const RunOptions& options) {
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
        else if (inputs.size() == 1 && (text == kStandardStream || std::filesystem::exists(text)))
            tensor = inputs[0];
        else
            throw UsageError(
                text::format("--input {}: {}", text,
                             text.find('=') == std::string::npos ? "write name=file" : mnn_last_error()));
        if (!given.insert(nameOf(tensor)).second)
            throw UsageError(text::format("--input gives '{}' twice", nameOf(tensor)));
        sources.push_back({tensor, file, {}});
    }
    for (const mnn_tensor_t* input : inputs)
        if (!given.count(nameOf(input)))
            throw UsageError(text::format("input '{}' ({}) is missing: give --input {}=FILE", nameOf(input),
                                          shapeText(shapeOf(input)), nameOf(input)));
    return sources;
}

Expected expectedOf(const mnn_tensor_t* tensor) {
    return {nameOf(tensor), shapeOf(tensor), elementOf(tensor)};
}

void feed(const Session& session, const RunOptions& options, std::vector<Source>& sources) {
    for (Source& source : sources) {
        if (isImageFile(source.file)) continue;
        source.array = readTensorFile(source.file, expectedOf(source.tensor));
        if (source.array.shape == shapeOf(source.tensor)) continue;
        try {
            resizeInput(session, source.tensor, source.array.shape);
        } catch (const ToolError& error) {
            throw ToolError(text::format("'{}' for the input '{}' ({}) has the shape {}: {}", source.file,
                                         nameOf(source.tensor), shapeText(shapeOf(source.tensor)),
                                         shapeText(source.array.shape), error.what()));
        }
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
    if (!in) throw ToolError(text::format("cannot open '{}'", path));
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
    text::print("top {} of '{}':\n", top, name);
    for (size_t i = 0; i < top; i++)
        text::print("  {:>6}  {:<12.6g} {}\n", order[i], valueAt(array, order[i]),
                    order[i] < labels.size() ? labels[order[i]] : "");
}

std::string fileName(const std::string& output) {
    std::string name = output;
    std::replace(name.begin(), name.end(), '/', '_');
    return name + ".npy";
}

int printJson(const Session& session) {
    Json outputs = Json::object();
    for (const mnn_tensor_t* tensor : outputsOf(session)) {
        const Array array = readTensor(tensor);
        Json values = Json::array();
        for (size_t i = 0; i < array.count(); i++) values.push(valueAt(array, i));
        outputs[nameOf(tensor)] = Json::object({{"shape", Json(array.shape)},
                                                {"type", elementName(array.element)},
                                                {"values", std::move(values)}});
    }
    text::print("{}\n", Json::object({{"outputs", std::move(outputs)}}).dump(-1));
    return 0;
}

int writeToStandardOutput(const Session& session) {
    const std::vector<mnn_tensor_t*> outputs = outputsOf(session);
    if (outputs.size() != 1)
        throw UsageError(
            text::format("--output -: the model has {} outputs, standard output takes one", outputs.size()));
    writeOutput(std::string(kStandardStream), npyText(readTensor(outputs[0])));
    return 0;
}

}  // namespace

int run(const RunOptions& options) {
    options.flags.checkTogether();
    const std::vector<std::string> labels = readLabels(options.labels);
    const Interpreter model = openModel(options.model);
    const Session session = createSession(model, options.flags);
    applyShapes(session, options.flags);
    std::vector<Source> sources = matchInputs(session, options);
    feed(session, options, sources);
    check(mnn_session_run(session.get()));

    if (options.json) return printJson(session);
    if (options.output == kStandardStream) return writeToStandardOutput(session);
    if (!options.output.empty()) {
        std::error_code error;
        std::filesystem::create_directories(options.output, error);
        if (error)
            throw ToolError(text::format("cannot make the folder '{}': {}", options.output, error.message()));
    }
    for (const mnn_tensor_t* tensor : outputsOf(session)) {
        const std::string name = nameOf(tensor);
        const Array array = readTensor(tensor);
        if (!options.output.empty()) {
            const std::filesystem::path path = std::filesystem::path(options.output) / fileName(name);
            writeNpy(path, array);
            text::print("{}: {} {} -> {}\n", name, shapeText(array.shape), elementName(array.element),
                        path.string());
        } else if (options.top == 0) {
            text::print("{}: {} {}\n", name, shapeText(array.shape), elementName(array.element));
        }
        if (options.top > 0) printTop(name, array, options.top, labels);
    }
    return 0;
}

}  // namespace tool
