#include "case.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common.h"

namespace tool {
namespace {

using nlohmann::json;

CaseTensor readTensorEntry(const std::filesystem::path& folder, const json& entry) {
    CaseTensor tensor;
    tensor.name = entry.at("name").get<std::string>();
    tensor.array = readNpy(folder / entry.at("file").get<std::string>());
    const auto shape = entry.at("shape").get<std::vector<int64_t>>();
    const auto type = entry.at("dtype").get<std::string>();
    if (tensor.array.shape != shape || elementName(tensor.array.element) != type)
        throw ToolError(fmt::format("'{}': case.json says {} of {}, its file holds {} of {}", tensor.name,
                                    shapeText(shape), type, shapeText(tensor.array.shape),
                                    elementName(tensor.array.element)));
    return tensor;
}

CaseTensor& outputNamed(Case& item, const std::string& name) {
    for (CaseTensor& output : item.outputs)
        if (output.name == name) return output;
    throw ToolError(fmt::format("case.json names '{}', which is no output of the case", name));
}

// true, or the names of the outputs it is meant for.
void readArgmax(Case& item, const json& value) {
    if (value.is_array()) {
        for (const json& name : value) outputNamed(item, name.get<std::string>()).argmaxEqual = true;
    } else if (value.get<bool>()) {
        for (CaseTensor& output : item.outputs) output.argmaxEqual = true;
    }
}

void readUnordered(Case& item, const json& value) {
    const CaseTensor* first = nullptr;
    for (const json& name : value.at("outputs")) {
        CaseTensor& output = outputNamed(item, name.get<std::string>());
        output.unordered = true;
        if (output.array.shape.empty())
            throw ToolError(fmt::format("'{}' is a scalar, no list", output.name));
        if (first && first->array.shape[0] != output.array.shape[0])
            throw ToolError(
                fmt::format("'{}' and '{}' are no list of the same length", first->name, output.name));
        first = &output;
    }
    item.maxUnmatched = value.value("max_unmatched", int64_t{0});
}

}  // namespace

std::vector<std::filesystem::path> findCases(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    if (!fs::is_directory(path)) throw ToolError(fmt::format("no folder '{}'", path.string()));
    if (fs::exists(path / "case.json")) return {path};
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
        if (fs::exists(entry.path() / "case.json")) found.push_back(entry.path());
    if (found.empty())
        throw ToolError(fmt::format("no case.json in '{}' nor one level below", path.string()));
    std::sort(found.begin(), found.end());
    return found;
}

Case readCase(const std::filesystem::path& folder) {
    std::ifstream in(folder / "case.json");
    if (!in) throw ToolError(fmt::format("cannot open '{}'", (folder / "case.json").string()));
    Case item;
    try {
        const json description = json::parse(in);
        item.model = folder / description.at("model").get<std::string>();
        for (const json& entry : description.at("inputs"))
            item.inputs.push_back(readTensorEntry(folder, entry));
        for (const json& entry : description.at("outputs"))
            item.outputs.push_back(readTensorEntry(folder, entry));
        const json& tolerance = description.at("tolerance");
        item.tolerance = tolerance.at("relative_to_max").get<double>();
        for (const json* place : {&description, &tolerance})
            if (place->contains("argmax_equal")) readArgmax(item, place->at("argmax_equal"));
        if (description.contains("unordered_rows")) readUnordered(item, description.at("unordered_rows"));
    } catch (const json::exception& error) {
        throw ToolError(fmt::format("'{}': {}", (folder / "case.json").string(), error.what()));
    }
    if (item.outputs.empty()) throw ToolError("the case expects no output");
    return item;
}

}  // namespace tool
