// Writes and reads costs as text.
#include "backends/cpu/kernels/costs/cost_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/error.h"

namespace mnnc {

namespace {

constexpr std::string_view kFirstLine = "mnn_c cpu costs 1";
constexpr size_t kMaxText = 1 << 20;

struct Field {
    const char* name;
    double& (*value)(CycleCosts& costs);
    double min, max;  // values outside of this range are refused, because no CPU has them
};

#define MNN_C_COST(member, min, max)                                          \
    {                                                                         \
#member, [](CycleCosts & c) -> double& { return c.member; }, min, max \
    }
#define MNN_C_COST_AT(member, name, min, max)                             \
    {                                                                     \
        name, [](CycleCosts& c) -> double& { return c.member; }, min, max \
    }
const Field kFields[] = {
    MNN_C_COST(weightBytesPerCycle, 0.1, 256),
    MNN_C_COST(exposedTraffic, 0, 1),
    MNN_C_COST(dequantize, 0.01, 1000),
    MNN_C_COST(copy, 0.01, 1000),
    MNN_C_COST(gemmOverhead, 1, 10),
    MNN_C_COST(tap, 0, 1000),
    MNN_C_COST(rowTraffic, 1, 10),
    MNN_C_COST(winogradCall, 0, 100000),
    MNN_C_COST_AT(winogradIn[1], "winogradIn2", 0.01, 1000),
    MNN_C_COST_AT(winogradIn[2], "winogradIn4", 0.01, 1000),
    MNN_C_COST_AT(winogradIn[3], "winogradIn6", 0.01, 1000),
    MNN_C_COST_AT(winogradOut[1], "winogradOut2", 0.01, 1000),
    MNN_C_COST_AT(winogradOut[2], "winogradOut4", 0.01, 1000),
    MNN_C_COST_AT(winogradOut[3], "winogradOut6", 0.01, 1000),
    MNN_C_COST_AT(winogradTaps[1], "winogradTaps2", 0.01, 1000),
    MNN_C_COST_AT(winogradTaps[2], "winogradTaps4", 0.01, 1000),
    MNN_C_COST_AT(winogradTaps[3], "winogradTaps6", 0.01, 1000),
    MNN_C_COST(winogradRound, 0, 1000),
    MNN_C_COST(winogradDequantize, 0.01, 1000),
    MNN_C_COST(winogradDequantizeBf16, 0.01, 1000),
    MNN_C_COST(fewOutputsCall, 0, 100000),
    MNN_C_COST(fewOutputsReduce, 0.01, 1000),
    MNN_C_COST_AT(tile.multiplyAdds, "tileMultiplyAdds", 0.1, 16),
    MNN_C_COST_AT(tile.loads, "tileLoads", 0.1, 16),
    MNN_C_COST_AT(tile.latency, "tileLatency", 1, 100),
    MNN_C_COST_AT(tile.rowLoads, "tileRowLoads", 0, 4),
    MNN_C_COST_AT(tile.hiddenLoads, "tileHiddenLoads", 0, 1),
    MNN_C_COST_AT(tile.weight, "tileWeight", 0.01, 100),
    MNN_C_COST(int8RowWeight, 0.01, 100),
    MNN_C_COST(int8WinogradIn, 0.01, 10000),
    MNN_C_COST(int8WinogradWeights, 0.01, 10000),
    MNN_C_COST(int8WinogradOut, 0.01, 10000),
};
#undef MNN_C_COST
#undef MNN_C_COST_AT

const Field* findField(std::string_view name) {
    const Field* const found =
        std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& f) { return f.name == name; });
    return found == std::end(kFields) ? nullptr : found;
}

// Removes the next line from the text and returns it.
std::string_view nextLine(std::string_view& text) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

// Reads a value without functions that depend on the host's locale.
double valueOf(const Field& field, const std::string& word, int line) {
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || !(value >= field.min && value <= field.max))
        fail(Status::InvalidValue, "line %d of the CPU's costs: %s is '%.*s', it goes from %g to %g", line, field.name,
             static_cast<int>(std::min<size_t>(word.size(), 80)), word.c_str(), field.min, field.max);
    return value;
}

}  // namespace

std::string writeCosts(const char* isa, const CycleCosts& costs) {
    std::string text = std::string(kFirstLine) + "\nisa " + isa + "\n";
    CycleCosts copy = costs;
    for (const Field& field : kFields) {
        char digits[32];
        constexpr int kPrecision = 4;
        const auto end =
            std::to_chars(std::begin(digits), std::end(digits), std::clamp(field.value(copy), field.min, field.max),
                          std::chars_format::general, kPrecision);
        text += std::string(field.name) + " " + std::string(digits, end.ptr) + "\n";
    }
    return text;
}

CostSections parseCosts(std::string_view text) {
    if (text.size() > kMaxText)
        fail(Status::InvalidValue, "the CPU's costs have %zu bytes, at most %zu are read", text.size(), kMaxText);
    CostSections sections;
    std::map<std::string, double>* section = nullptr;
    bool begun = false;
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = nextLine(text);
        if (line.empty() || line.front() == '#') continue;
        if (line == kFirstLine) {
            begun = true;
            continue;
        }
        const size_t space = line.find(' ');
        const std::string_view name = line.substr(0, space);
        const std::string word(space == std::string_view::npos ? std::string_view() : line.substr(space + 1));
        if (!begun)
            fail(Status::InvalidValue, "line %d of the CPU's costs is '%.*s', but they begin with '%s'", number,
                 static_cast<int>(std::min<size_t>(line.size(), 80)), line.data(), kFirstLine.data());
        if (name == "isa") {
            if (word.empty()) fail(Status::InvalidValue, "line %d of the CPU's costs names no instruction set", number);
            section = &sections[word];
            continue;
        }
        const Field* const field = findField(name);
        if (!field || !section)
            fail(Status::InvalidValue, "line %d of the CPU's costs: '%.*s' is %s", number,
                 static_cast<int>(std::min<size_t>(name.size(), 80)), name.data(),
                 field ? "before the first line 'isa NAME'" : "no cost that this version knows");
        (*section)[field->name] = valueOf(*field, word, number);
    }
    if (sections.empty()) fail(Status::InvalidValue, "the CPU's costs have no line 'isa NAME'");
    return sections;
}

void applyCosts(const std::map<std::string, double>& section, CycleCosts& costs) {
    for (const auto& [name, value] : section)
        if (const Field* const field = findField(name)) field->value(costs) = value;
}

}  // namespace mnnc
