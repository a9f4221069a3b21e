// Finds values that are equal in both probes by chance: elements from arithmetic over free extents, and the extents
// that follow from them.
#include <algorithm>

#include "base/error.h"
#include "builder.h"

namespace mnnc::onnx {
namespace {

bool moves(OpType type) {
    switch (type) {
        case OpType::Cast:
        case OpType::Concat:
        case OpType::Flatten:
        case OpType::GatherV2:
        case OpType::Identity:
        case OpType::Pack:
        case OpType::Permute:
        case OpType::Reshape:
        case OpType::Slice:
        case OpType::Squeeze:
        case OpType::StridedSlice:
        case OpType::Unsqueeze:
            return true;
        default:
            return false;
    }
}

bool isElementwise(OpType type) {
    return type == OpType::BinaryOp || type == OpType::UnaryOp || type == OpType::Select || type == OpType::ReLU ||
           type == OpType::ReLU6;
}

// Operators whose outputs have the spatial axes of their first input, reduced or widened by windows.
bool hasWindows(OpType type) {
    switch (type) {
        case OpType::Convolution:
        case OpType::Convolution3D:
        case OpType::ConvolutionDepthwise:
        case OpType::ConvTranspose3D:
        case OpType::Deconvolution:
        case OpType::DeconvolutionDepthwise:
        case OpType::Pooling:
        case OpType::Pooling3D:
            return true;
        default:
            return false;
    }
}

bool isNonzero(const Array& array, size_t i) {
    return array.realAt(static_cast<int64_t>(i)) != 0;
}

bool isEqual(const Value& value, size_t i) {
    const auto at = static_cast<int64_t>(i);
    return value.content[0]->realAt(at) == value.content[1]->realAt(at);
}

// Whether the elements have counterparts in the other probe.
bool isPaired(const Value& value) {
    return value.content[0] && value.content[1] && value.content[0]->dims == value.content[1]->dims;
}

// For each element of the value, 1 where it is not the same in every run.
Operand uncertain(const Value& value) {
    const Array& array = *value.content[0];
    auto bits = std::make_shared<Array>();
    bits->type = DataType::DT_INT32;
    bits->dims = array.dims;
    for (size_t i = 0; i < static_cast<size_t>(array.count()); ++i) {
        const bool open = !value.constant && (!isPaired(value) || value.doubted(i) || !isEqual(value, i));
        bits->ints.push_back(open ? 1 : 0);
    }
    return {DataType::DT_INT32, array.dims, bits};
}

std::vector<bool> bitsOf(const Array& array) {
    std::vector<bool> bits(static_cast<size_t>(array.count()));
    bool any = false;
    for (size_t i = 0; i < bits.size(); ++i) {
        bits[i] = isNonzero(array, i);
        any = any || bits[i];
    }
    return any ? bits : std::vector<bool>();
}

// Added to numbers that may be equal by chance.
constexpr int64_t kApart = 32;

// The distance for the elements of an input. Where a difference of two inputs determines an extent, their distances
// differ, or the extent would look certain.
int64_t distanceOf(OpType type, size_t input) {
    const bool differs = type == OpType::StridedSlice || type == OpType::Range;
    return differs ? kApart * static_cast<int64_t>(input + 1) : kApart;
}

// distance: for elements. equalAlone: changes only elements that are equal in both probes.
Operand apart(const Value& value, Operand operand, int64_t distance, bool equalAlone) {
    for (size_t axis = 0; axis < value.chance.size(); ++axis)
        if (value.chance[axis]) {
            operand.dims[axis] += kApart;
            operand.content = nullptr;  // the content would be longer
        }
    if (!operand.content || value.doubts.empty() || !isPaired(value)) return operand;
    auto changed = std::make_shared<Array>(*operand.content);
    for (size_t i = 0; i < value.doubts.size(); ++i) {
        if (!value.doubts[i] || (equalAlone && !isEqual(value, i))) continue;
        if (i < changed->ints.size()) changed->ints[i] = static_cast<int32_t>(changed->ints[i] + distance);  // may wrap
        if (i < changed->floats.size()) changed->floats[i] *= 1 + static_cast<float>(distance) / kApart;
    }
    operand.content = changed;
    return operand;
}

// Returns whether a slice begins or ends at numbers that differ between the probes. Both may lie beyond the end of the
// axis, for example where a net slices a table of positions that has fewer rows than a probe has tokens.
bool cutsByNumbers(OpType type, const std::vector<V>& inputs) {
    if (type != OpType::StridedSlice) return false;
    for (size_t i = 1; i < inputs.size(); ++i) {
        const Value& value = *inputs[i];
        for (size_t k = 0; isPaired(value) && k < static_cast<size_t>(value.content[0]->count()); ++k)
            if (!isEqual(value, k)) return true;
    }
    return false;
}

// Moves the numbers of a slice that differ between the probes towards 0, all by the same distance, so that windows keep
// their lengths.
void moveCuts(const std::vector<V>& inputs, std::vector<Operand>& operands) {
    constexpr int64_t kMinNumber = 5;
    int64_t smallest = INT32_MAX;
    const auto forDiffering = [&](const auto& visit) {
        for (size_t i = 1; i < inputs.size(); ++i) {
            const Value& value = *inputs[i];
            if (!isPaired(value) || !operands[i].content) continue;
            for (size_t k = 0; k < operands[i].content->ints.size(); ++k)
                if (!isEqual(value, k)) visit(i, k, int64_t{operands[i].content->ints[k]});
        }
    };
    forDiffering([&](size_t, size_t, int64_t number) { smallest = std::min(smallest, std::abs(number)); });
    const int64_t by = std::max<int64_t>(0, smallest - kMinNumber);
    std::vector<std::shared_ptr<Array>> moved(operands.size());
    forDiffering([&](size_t i, size_t k, int64_t number) {
        if (!moved[i]) moved[i] = std::make_shared<Array>(*operands[i].content);
        moved[i]->ints[k] = static_cast<int32_t>(number < 0 ? number + by : number - by);
    });
    for (size_t i = 0; i < operands.size(); ++i)
        if (moved[i]) operands[i].content = moved[i];
}

}  // namespace

// The doubts about an operator's outputs if the operator only moves elements, which then move with them.
std::vector<bool> Builder::movedDoubts(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                                       size_t output, const Value& value) const {
    const size_t data = type == OpType::Concat || type == OpType::Pack ? inputs.size() : 1;
    bool any = false, certain = true;
    std::vector<Operand> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Value& input = *inputs[i];
        if (i < data) {
            any = any || !input.doubts.empty();
            Operand bits = uncertain(input);
            for (size_t k = 0; k < static_cast<size_t>(bits.content->count()); ++k)
                if (!input.doubted(k)) std::const_pointer_cast<Array>(bits.content)->ints[k] = 0;
            operands.push_back(std::move(bits));
        } else {
            certain = certain && input.constant;
            operands.push_back(operand(input, 0, true));
        }
    }
    std::vector<bool> all(static_cast<size_t>(value.content[0]->count()), true);
    if (!certain) return all;
    if (!any) return {};
    const std::vector<Result> results =
        evaluator_(type, parameter.value, operands, output + 1, value.content[0]->count());
    return results[output].content ? bitsOf(*results[output].content) : all;
}

// An element of an element-wise operator is in doubt where one of its operands is not certain.
std::vector<bool> Builder::elementDoubts(const std::vector<V>& inputs, const Value& value) const {
    wire::BinaryOpT table;
    table.opType = wire::BinaryOpOperation::ADD;
    table.T = DataType::DT_INT32;
    const Parameter sum(table);
    Operand total = uncertain(*inputs[0]);
    for (size_t i = 1; i < inputs.size(); ++i) {
        const std::vector<Result> results =
            evaluator_(OpType::BinaryOp, sum.value, {total, uncertain(*inputs[i])}, 1, value.content[0]->count());
        if (!results[0].content) return std::vector<bool>(static_cast<size_t>(value.content[0]->count()), true);
        total = {DataType::DT_INT32, results[0].dims, results[0].content};
    }
    return bitsOf(*total.content);
}

std::vector<bool> Builder::doubtsOf(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                                    size_t output, const Value& value) const {
    if (moves(type)) return movedDoubts(type, parameter, inputs, output, value);
    std::vector<bool> all(static_cast<size_t>(value.content[0]->count()), true);
    for (const V input : inputs)
        if (!isPaired(*input)) return all;
    return isElementwise(type) ? elementDoubts(inputs, value) : all;
}

// Evaluates the operator a third time with other numbers in place of those that may be equal by chance: whatever
// changes is in doubt, too.
void Builder::noteChance(OpType type, const Parameter& parameter, const std::vector<V>& inputs,
                         const std::vector<V>& outputs) {
    if (trusts) return;
    if (type == OpType::StridedSlice) noteClamps(parameter, inputs, *outputs.at(0));
    bool any = false;
    for (const V input : inputs) any = any || !input->chance.empty() || !input->doubts.empty();
    const bool cuts = cutsByNumbers(type, inputs);
    if (!any && !cuts) return;
    std::vector<Result> results;
    for (const bool equalAlone : {false, true}) {
        std::vector<Operand> operands;
        operands.reserve(inputs.size());
        for (size_t i = 0; i < inputs.size(); ++i)
            operands.push_back(apart(*inputs[i], operand(*inputs[i], 1, false), distanceOf(type, i), equalAlone));
        if (cuts) moveCuts(inputs, operands);
        try {
            results = evaluator_(type, parameter.value, operands, outputs.size(), -1);
            break;
        } catch (const Error& error) {
            if (error.status() == Status::OutOfMemory || error.status() == Status::Cancelled) throw;
        }
    }
    if (results.empty()) return noteChanceByNumber(inputs, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
        Value& value = *outputs[i];
        if (!results[i].known || results[i].dims.size() != value.rank()) continue;
        for (size_t axis = 0; axis < value.rank(); ++axis)
            if (value.dims[1][axis] != results[i].dims[axis]) addChance(value, axis);
    }
}

// The end of a slice may lie within both probes' extents, but not within that of a run: then the slice is shorter. And
// a large step may take as many elements for both probes.
void Builder::noteClamps(const Parameter& parameter, const std::vector<V>& inputs, Value& value) {
    constexpr int64_t kMore = 1000;
    const Value& x = *inputs[0];
    const bool byNumbers = std::all_of(inputs.begin() + 1, inputs.end(), [](V input) { return input->constant; });
    if (x.allFixed() || !byNumbers) return;
    std::vector<Operand> operands;
    operands.reserve(inputs.size());
    for (const V input : inputs) operands.push_back(operand(*input, 1, false));
    operands[0].content = nullptr;
    for (size_t axis = 0; axis < x.rank(); ++axis) {
        if (x.fixed(axis)) continue;
        for (const int64_t extent : {int64_t{1}, x.dims[1][axis] + kMore}) {
            operands[0].dims[axis] = extent;
            Result result;
            try {
                result = evaluator_(OpType::StridedSlice, parameter.value, operands, 1, -1).at(0);
            } catch (const Error& error) {
                if (error.status() == Status::OutOfMemory || error.status() == Status::Cancelled) throw;
            }
            if (!result.known || result.dims.size() != value.rank()) continue;
            for (size_t i = 0; i < value.rank(); ++i)
                if (value.dims[1][i] != result.dims[i]) addChance(value, i);
        }
        operands[0].dims[axis] = x.dims[1][axis];
    }
}

void Builder::addChance(Value& value, size_t axis) {
    if (!value.fixed(axis)) return;
    value.chance.resize(value.rank());
    value.chance[axis] = true;
    ++chances;
}

// For operators whose rule determines the extents. Windows with strides may give equal extents for different ones: a
// stride of 2 makes 1 of both 1 and 2.
void Builder::carryChance(OpType type, const std::vector<V>& inputs, const std::vector<V>& outputs) {
    if (trusts || inputs.empty()) return;
    constexpr size_t kFirstSpatialAxis = 2;
    const Value& x = *inputs[0];
    const bool windows = hasWindows(type);
    for (const V value : outputs) {
        if (value->rank() != x.rank()) {
            noteChanceByNumber(inputs, {value});
            continue;
        }
        for (size_t axis = 0; axis < x.rank(); ++axis) {
            const bool spatial = windows && axis >= kFirstSpatialAxis;
            const bool isOpen = (axis < x.chance.size() && x.chance[axis]) || (spatial && !x.fixed(axis));
            if (!isOpen || !value->fixed(axis)) continue;
            if (spatial && windowsReachOne && value->dims[0][axis] == 1)
                ++reachedOne;
            else
                addChance(*value, axis);
        }
    }
}

// Where the operator cannot be evaluated, an extent of an output is in doubt if an extent in doubt of an input is equal
// to it.
void Builder::noteChanceByNumber(const std::vector<V>& inputs, const std::vector<V>& outputs) {
    std::vector<int64_t> numbers;
    if (trusts) return;
    for (const V input : inputs) {
        for (size_t axis = 0; axis < input->chance.size(); ++axis)
            if (input->chance[axis]) numbers.push_back(input->dims[0][axis]);
        for (size_t i = 0; i < input->doubts.size(); ++i)
            if (input->doubts[i] && isPaired(*input) && isEqual(*input, i))
                numbers.push_back(input->content[0]->intAt(static_cast<int64_t>(i)));
    }
    for (const V value : outputs)
        for (size_t axis = 0; !numbers.empty() && axis < value->rank(); ++axis)
            if (std::find(numbers.begin(), numbers.end(), value->dims[0][axis]) != numbers.end())
                addChance(*value, axis);
}

}  // namespace mnnc::onnx
