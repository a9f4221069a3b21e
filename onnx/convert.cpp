// See convert.h.
#include "convert.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/error.h"
#include "fold_branches.h"
#include "fold_channels.h"
#include "fold_patterns.h"
#include "isolate_averages.h"
#include "round_codes.h"

namespace mnnc::onnx {
namespace {

// Ways to choose numbers for free extents; see Importer::run().
constexpr int kStrategies = kTrustingStrategy + 1;

void requireNames(const ModelFile& model, const ImportOptions& options) {
    for (const auto& [name, dims] : options.shapes) {
        bool found = false;
        for (const ValueInfo& info : model.graph.inputs) found = found || info.name == name;
        if (!found) fail(Status::NotFound, "the model has no input '%s'", name.c_str());
    }
    for (const auto& [name, extent] : options.extents) {
        bool found = false;
        for (const ValueInfo& info : model.graph.inputs)
            for (const Extent& one : info.shape) found = found || (one.value < 0 && one.name == name);
        if (!found) fail(Status::NotFound, "no input of the model has a free extent '%s'", name.c_str());
    }
}

// Reads the model with one set of stand-ins for free extents after the other, until one leaves no problems.
std::unique_ptr<Importer> readModel(Reading& reading) {
    std::unique_ptr<Importer> best;
    bool chances = false;
    for (int strategy = 0; strategy < kStrategies; ++strategy) {
        if (strategy == kTrustingStrategy && !chances) break;
        auto importer = std::make_unique<Importer>(reading);
        const bool free = importer->run(strategy);
        chances = chances || importer->builder().chances > 0;
        if (!best || importer->report().problems.size() < best->report().problems.size()) best = std::move(importer);
        if (!free || best->report().problems.empty()) break;
        // With extents that only contents leave open, strategies use the same numbers: the last two alone differ.
        if (!best->hasFreeInputs()) strategy = std::max(strategy, kLenientStrategy - 1);
    }
    return best;
}

void noteRounded(const std::map<std::string, int64_t>& floats, std::vector<std::string>& notes) {
    if (floats.empty()) return;
    std::string list;
    for (const auto& [type, count] : floats) list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + type;
    notes.push_back(
        "Operators that make quantised values with floats, which are rounded to codes behind them: " + list + ".");
}

}  // namespace

Converted convert(Bytes bytes, const ImportOptions& options, const DataFolder& folder) {
    const ModelFile model = parseModel(bytes);
    requireNames(model, options);
    Reading reading{model, options, folder, Evaluator(options.cancel), Budget(options.maxBytes, bytes.size()), {}};
    std::unique_ptr<Importer> best = readModel(reading);
    if (reading.keptFreeAxes && best->report().problems.empty() && best->ranksDiffer()) {
        reading.dropsFreeAxes = true;
        std::unique_ptr<Importer> other = readModel(reading);
        if (other->report().problems.empty() && !other->ranksDiffer()) best = std::move(other);
    }
    Converted result;
    result.report = std::move(best->report());
    if (!result.report.problems.empty() && best->hasFreeInputs())
        result.report.notes.emplace_back(
            "The model leaves extents free. The numbers in the reasons stand for them, and the model may be valid for "
            "others alone: try it with shapes for its inputs.");
    if (result.report.problems.empty()) {
        best->builder().requireArraysFit();
        foldPatterns(best->builder(), best->netOutputs());
        foldChannels(best->builder(), best->netOutputs());
        // Operators after the sum of the branches can then be folded into the convolution.
        if (foldBranches(best->builder(), best->netOutputs())) foldChannels(best->builder(), best->netOutputs());
        isolateAverages(best->builder());
        noteRounded(roundCodes(best->builder(), best->netOutputs()), result.report.notes);
        result.report.operators = static_cast<int64_t>(best->builder().scopes().front().operators.size());
        // Constants that operators own are freed while they are written.
        reading.tensors.clear();
        best->builder().forgetContents();
        result.net = writeNet(best->builder(), best->netOutputs(), options.write, result.report.notes);
        // Numbers that no rule has checked may be out of the engine's range.
        requireLoads(result.net.bytes(), std::as_bytes(std::span(result.net.weights)), options.cancel);
    }
    return result;
}

}  // namespace mnnc::onnx
