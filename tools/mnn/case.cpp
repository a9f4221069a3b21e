// Reads case.json and the arrays of a case from an archive or a folder.
#include "case.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/os/paths.h"
#include "errors.h"
#include "json.h"
#include "text.h"
#include "zip.h"

namespace tool {
namespace {

constexpr const char* kArchive = "case.npz";
constexpr const char* kDescription = "case.json";

bool isCase(const std::filesystem::path& folder) {
    return std::filesystem::exists(folder / kArchive) || std::filesystem::exists(folder / kDescription);
}

// The place of case.json and the arrays of a case: case.npz, or the folder where there is no such file.
class Source {
  public:
    explicit Source(const std::filesystem::path& folder) : folder_(folder) {
        if (std::filesystem::exists(folder / kArchive)) zip_.emplace(folder / kArchive);
    }

    std::string nameOf(const std::string& file) const {
        return zip_ ? mnnc::os::textOf(folder_ / kArchive) + ":" + file
                    : mnnc::os::textOf(folder_ / mnnc::os::pathOf(file));
    }

    nlohmann::json description() const {
        if (zip_) return parseJson(zip_->member(kDescription));
        std::ifstream in(folder_ / kDescription);
        if (!in) throw ToolError(fmt::format("cannot open '{}'", nameOf(kDescription)));
        return parseJson(std::string(std::istreambuf_iterator<char>(in), {}));
    }

    Array array(const std::string& file) const {
        return zip_ ? parseNpy(zip_->member(file), nameOf(file)) : readNpy(folder_ / mnnc::os::pathOf(file));
    }

  private:
    std::filesystem::path folder_;
    std::optional<Zip> zip_;
};

CaseTensor readTensorEntry(const Source& source, const nlohmann::json& entry) {
    CaseTensor tensor;
    tensor.name = entry.at("name").get<std::string>();
    tensor.array = source.array(entry.at("file").get<std::string>());
    const auto shape = integersOf(entry.at("shape"));
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

// Reads true, or the names of the outputs that the check is for.
void readArgmax(Case& item, const nlohmann::json& value) {
    if (value.is_array()) {
        for (const nlohmann::json& name : value) outputNamed(item, name.get<std::string>()).argmaxEqual = true;
    } else if (value.get<bool>()) {
        for (CaseTensor& output : item.outputs) output.argmaxEqual = true;
    }
}

void readUnordered(Case& item, const nlohmann::json& value) {
    const CaseTensor* first = nullptr;
    for (const nlohmann::json& name : listOf(value.at("outputs"))) {
        CaseTensor& output = outputNamed(item, name.get<std::string>());
        output.unordered = true;
        if (output.array.shape.empty()) throw ToolError(fmt::format("'{}' is a scalar, no list", output.name));
        if (first && first->array.shape[0] != output.array.shape[0])
            throw ToolError(fmt::format("'{}' and '{}' are no list of the same length", first->name, output.name));
        first = &output;
    }
    if (value.contains("max_unmatched")) item.maxUnmatched = integerOf(value.at("max_unmatched"));
}

}  // namespace

std::vector<std::filesystem::path> findCases(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    if (!fs::is_directory(path)) throw ToolError(fmt::format("there is no folder '{}'", mnnc::os::textOf(path)));
    if (isCase(path)) return {path};
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
        if (isCase(entry.path())) found.push_back(entry.path());
    if (found.empty())
        throw ToolError(fmt::format("there is no {} and no {} in '{}' nor one level below", kArchive, kDescription,
                                    mnnc::os::textOf(path)));
    std::sort(found.begin(), found.end());
    return found;
}

Case readCase(const std::filesystem::path& folder) {
    const Source source(folder);
    Case item;
    try {
        const nlohmann::json description = source.description();
        if (description.contains("tokens"))
            throw ToolError(
                fmt::format("'{}' is about a language model, which 'mnn generate' runs", source.nameOf(kDescription)));
        item.model = folder / mnnc::os::pathOf(description.at("model").get<std::string>());
        for (const nlohmann::json& entry : listOf(description.at("inputs")))
            item.inputs.push_back(readTensorEntry(source, entry));
        for (const nlohmann::json& entry : listOf(description.at("outputs")))
            item.outputs.push_back(readTensorEntry(source, entry));
        const nlohmann::json& tolerance = description.at("tolerance");
        item.tolerance = tolerance.at("relative_to_max").get<double>();
        for (const nlohmann::json* place : {&description, &tolerance})
            if (place->contains("argmax_equal")) readArgmax(item, place->at("argmax_equal"));
        if (description.contains("unordered_rows")) readUnordered(item, description.at("unordered_rows"));
    } catch (const nlohmann::json::exception& error) {
        throw ToolError(fmt::format("'{}': {}", source.nameOf(kDescription), reasonOf(error)));
    }
    if (item.outputs.empty()) throw ToolError("the case expects no output");
    return item;
}

}  // namespace tool
