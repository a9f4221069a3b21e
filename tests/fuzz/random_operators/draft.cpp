#include "random_operators/draft.h"

#include <algorithm>
#include <span>

#include "random_operators/table.h"

namespace fuzz {

namespace {

struct Row {
    wire::OpType type;
    size_t minInputs, maxInputs, minOutputs, maxOutputs;
    std::vector<std::string_view> tables;
};

std::span<const Row> rows() {
#define OPERATOR(name, number, minInputs, maxInputs, minOutputs, maxOutputs, use, ...) \
    {wire::OpType::name, minInputs, maxInputs, minOutputs, maxOutputs, tablesOf(#__VA_ARGS__)},
    static const auto tablesOf = [](std::string_view names) {
        std::vector<std::string_view> list;
        while (!names.empty()) {
            const size_t end = std::min(names.find(','), names.size());
            list.push_back(names.substr(0, end));
            names.remove_prefix(std::min(end + 2, names.size()));
        }
        return list;
    };
    static const std::vector<Row> list = {
#include "base/operators.def"
    };
#undef OPERATOR
    return list;
}

wire::OpParameter parameterNamed(std::string_view name) {
    for (const wire::OpParameter type : wire::EnumValuesOpParameter())
        if (name == wire::EnumNameOpParameter(type)) return type;
    return wire::OpParameter::NONE;
}

wire::OpParameter parameterOf(const Row& row, Random& random) {
    if (random.oneIn(64)) return random.pick(wire::EnumValuesOpParameter());
    if (row.tables.empty() || random.oneIn(64)) return wire::OpParameter::NONE;
    return parameterNamed(random.oneIn(4) ? random.pick(row.tables) : row.tables[0]);
}

// Returns a count that the format allows, seldom one less or more; no more than eight.
size_t countNear(size_t minCount, size_t maxCount, Random& random) {
    size_t count = minCount + random.below(std::min<size_t>(maxCount - minCount, random.oneIn(3) ? 8 : 1) + 1);
    if (random.oneIn(48)) ++count;
    if (random.oneIn(48) && count > 0) --count;
    return count;
}

wire::DataType anyInputType(Random& random) {
    static constexpr wire::DataType kOthers[] = {DT_INT32, DT_INT32, DT_UINT8, DT_INT8};
    return random.oneIn(5) ? random.pick(kOthers) : DT_FLOAT;
}

}  // namespace

int Draft::extent() {
    if (random.oneIn(50)) return 0;
    if (random.oneIn(60)) return 70;
    return number(1, random.oneIn(4) ? 9 : 4);
}

Dims Draft::shape(int minRank, int maxRank) {
    Dims dims(static_cast<size_t>(number(minRank, maxRank)));
    for (int32_t& dim : dims) dim = extent();
    return dims;
}

Operand Draft::ints(Dims dims, std::vector<double> values) {
    return {std::move(dims), wire::DataType::DT_INT32, !random.oneIn(5), std::move(values)};
}

Operand Draft::list(const std::vector<int>& values) {
    return ints({static_cast<int32_t>(values.size())}, {values.begin(), values.end()});
}

Operand Draft::scalar(double value, wire::DataType type) {
    return {random.oneIn(2) ? Dims{} : Dims{1}, type, !random.oneIn(6), {value}};
}

int Draft::axis(size_t rank) {
    const int positive = static_cast<int>(random.below(rank));
    return random.oneIn(2) ? positive - static_cast<int>(rank) : positive;
}

std::vector<float> Draft::reals(int64_t count) {
    std::vector<float> values(static_cast<size_t>(std::clamp<int64_t>(count, 0, 1 << 18)));
    for (float& value : values) value = static_cast<float>(number(-8, 8)) / 4;
    if (!values.empty() && random.oneIn(16)) random.pick(values) = random.oneIn(2) ? __builtin_nanf("") : 1e38f;
    return values;
}

Draft draftOf(wire::OpType type, bool settled, Random& random) {
    const auto row = std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.type == type; });
    Draft draft{random, {}};
    draft.op.type = type;
    fillTable(draft.op.main, parameterOf(*row, random), random.oneIn(3), random);
    const size_t count = countNear(row->minInputs, row->maxInputs, random);
    draft.outputs = countNear(row->minOutputs, row->maxOutputs, random);
    const Dims common = draft.shape(random.oneIn(4) ? 0 : 2, random.oneIn(4) ? 6 : 4);
    const wire::DataType commonType = anyInputType(random);
    for (size_t i = 0; i < count; ++i) {
        Operand input{common, commonType, random.oneIn(4)};
        if (random.oneIn(4) && !input.dims.empty()) random.pick(input.dims) = 1;  // broadcast
        if (random.oneIn(10)) input.dims = draft.shape(0, 6);
        if (random.oneIn(10)) input.type = anyInputType(random);
        draft.inputs.push_back(std::move(input));
    }
    draft.format = static_cast<wire::MNN_DATA_FORMAT>(random.oneIn(2) ? 0 : random.below(3));
    if (random.oneIn(48)) draft.format = random.pick(wire::EnumValuesMNN_DATA_FORMAT());
    if (random.oneIn(4)) draft.source = random.pick(wire::EnumValuesNetSource());
    if (!settled) return draft;
    settleShapes(draft);
    settleLayers(draft);
    settleDetection(draft);
    settleControl(draft);
    return draft;
}

}  // namespace fuzz
