// Prints, writes and draws the results of 'mnn run'.
#include "results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <sstream>

#include "base/os/paths.h"
#include "box_drawing.h"
#include "input_file.h"
#include "output_file.h"

namespace tool {
namespace {

std::vector<std::string> readLabels(const std::string& path) {
    std::vector<std::string> labels;
    if (path.empty()) return labels;
    std::istringstream in(readInput(path));
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        labels.push_back(line);
    }
    return labels;
}

// Returns a text such as "photo.png: ", or nothing where there is one result.
std::string prefix(const std::string& label) {
    return label.empty() ? "" : label + ": ";
}

void printTop(const std::string& label, const NamedArray& output, size_t top, const std::vector<std::string>& names) {
    const Array& array = output.array;
    std::vector<size_t> order(array.count());
    std::iota(order.begin(), order.end(), size_t{0});
    top = std::min(top, order.size());
    // NaN comes last: comparing it with other values gives no order.
    const auto rank = [&](size_t i) { return std::isnan(valueAt(array, i)) ? -INFINITY : valueAt(array, i); };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](size_t a, size_t b) { return rank(a) > rank(b); });
    text::print("{}top {} of '{}':\n", prefix(label), top, output.name);
    for (size_t i = 0; i < top; i++)
        text::print("  {:>6}  {:<12.6g} {}\n", order[i], valueAt(array, order[i]),
                    order[i] < names.size() ? names[order[i]] : "");
}

std::string fileName(const std::string& output) {
    return mnnc::os::fileNameOf(output + ".npy");
}

// Names of files lack characters that names of outputs may have.
void requireDifferentFiles(const std::vector<NamedArray>& outputs) {
    std::map<std::string, std::string> writers;
    for (const NamedArray& output : outputs) {
        const auto [place, isNew] = writers.emplace(fileName(output.name), output.name);
        if (!isNew)
            throw ToolError(fmt::format("the outputs '{}' and '{}' would both write '{}'", place->second, output.name,
                                        place->first));
    }
}

void makeFolder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw ToolError(fmt::format("cannot make the folder '{}': {}", mnnc::os::textOf(folder), error.message()));
}

Json outputsJson(const Result& result) {
    Json outputs = Json::object();
    for (const NamedArray& output : result.outputs) {
        Json values = Json::array();
        for (size_t i = 0; i < output.array.count(); i++) values.push_back(valueAt(output.array, i));
        outputs[output.name] = Json::object({{"shape", Json(output.array.shape)},
                                             {"type", elementName(output.array.element)},
                                             {"values", std::move(values)}});
    }
    return outputs;
}

}  // namespace

ResultWriter::ResultWriter(const Interpreter& model, const RunOptions& options)
    : model_(model),
      options_(options),
      names_(readLabels(options.labels)),
      printsText_(!options.json && options.output != kStandardStream && options.draw != kStandardStream) {
    if (options.draw == kStandardStream && (options.json || options.output == kStandardStream))
        throw UsageError("--draw -: something else is written to standard output, too");
    if (options.draw == kStandardStream && options.top > 0)
        throw UsageError("--draw -: --top prints to standard output, too");
    options.boxes.check();
}

void ResultWriter::write(const Result& result) {
    Json json;
    if (!result.label.empty()) json["file"] = result.label;
    if (options_.json) json["outputs"] = outputsJson(result);
    if (!options_.output.empty()) writeFiles(result);
    if (printsText_) print(result);
    if (options_.wantsBoxes()) findBoxes(result, json);
    if (options_.json) results_.push_back(std::move(json));
    std::fflush(stdout);
}

void ResultWriter::fail(const std::string& label, const std::string& reason) {
    failed_ = true;
    text::print(stderr, "mnn run: {}\n", reason);
    if (options_.json) results_.push_back(Json::object({{"file", label}, {"error", reason}}));
}

int ResultWriter::finish() {
    if (options_.json) {
        const bool one = options_.images.empty();
        text::print("{}\n", jsonText(one ? results_.at(0) : Json::object({{"images", results_}}), -1));
    }
    return failed_ ? 1 : 0;
}

void ResultWriter::writeFiles(const Result& result) {
    if (options_.output == kStandardStream) {
        if (result.outputs.size() != 1)
            throw UsageError(
                fmt::format("--output -: the model has {} outputs, standard output takes one", result.outputs.size()));
        writeOutput(options_.output, npyText(result.outputs[0].array));
        return;
    }
    requireDifferentFiles(result.outputs);
    const std::filesystem::path folder = mnnc::os::pathOf(options_.output) / mnnc::os::pathOf(result.name);
    makeFolder(folder);
    for (const NamedArray& output : result.outputs)
        writeNpy(folder / mnnc::os::pathOf(fileName(output.name)), output.array);
}

void ResultWriter::print(const Result& result) {
    for (const NamedArray& output : result.outputs) {
        std::string target;
        if (!options_.output.empty())
            target = " -> " + mnnc::os::textOf(mnnc::os::pathOf(options_.output) / mnnc::os::pathOf(result.name) /
                                               mnnc::os::pathOf(fileName(output.name)));
        if (!target.empty() || (options_.top == 0 && !options_.wantsBoxes()))
            text::print("{}{}: {} {}{}\n", prefix(result.label), output.name, shapeText(output.array.shape),
                        elementName(output.array.element), target);
        if (options_.top > 0) printTop(result.label, output, options_.top, names_);
    }
}

void ResultWriter::findBoxes(const Result& result, Json& json) {
    if (!result.picture) throw UsageError("boxes are found in one picture: give it with --image or --input");
    Picture picture = decodedPicture(*result.picture, MNN_IMAGE_RGB);
    const BoxForm form = boxFormOf(model_, result.outputs, options_.boxes);
    const Place place = placeOf(picture.width, picture.height, *result.form, options_.image);
    const View view{result.form->width, result.form->height, place, picture.width, picture.height};
    const std::vector<Detection> found = detectionsOf(result.outputs, form, options_.boxes.choice, view);
    Json list = Json::array();
    if (printsText_) text::print("{}{} box{}\n", prefix(result.label), found.size(), found.size() == 1 ? "" : "es");
    for (const Detection& box : found) {
        const std::string name = className(box.kind, names_);
        if (printsText_)
            text::print("  {:.3f}  {:<16} {:.0f},{:.0f} to {:.0f},{:.0f}\n", box.score, name, box.x1, box.y1, box.x2,
                        box.y2);
        Json row = Json::object({{"score", box.score},
                                 {"class", box.kind < 0 ? Json() : Json(box.kind)},
                                 {"name", name.empty() ? Json() : Json(name)},
                                 {"box", Json::array()}});
        for (const double edge : {box.x1, box.y1, box.x2, box.y2}) row["box"].push_back(edge);
        list.push_back(std::move(row));
    }
    if (options_.json) json["boxes"] = std::move(list);
    if (options_.draw.empty()) return;
    drawDetections(picture, found, names_);
    std::string target = options_.draw;
    if (!result.name.empty()) {
        makeFolder(mnnc::os::pathOf(options_.draw));
        target = mnnc::os::textOf(mnnc::os::pathOf(options_.draw) / mnnc::os::pathOf(result.name + ".png"));
    }
    writeOutput(target, pngOf(picture));
}

std::vector<NamedArray> readOutputs(const Session& session) {
    std::vector<NamedArray> outputs;
    for (const mnn_tensor_t* tensor : outputsOf(session)) outputs.push_back({nameOf(tensor), readTensor(tensor)});
    return outputs;
}

}  // namespace tool
