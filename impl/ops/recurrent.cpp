// RNN, LSTM and RNNSequenceGRU (formulas: ONNX's RNN, LSTM and GRU), and LSTMBlockCell (formula: TensorFlow's
// operator).
#include "ops/recurrent.h"

#include <algorithm>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/looped_layer.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

constexpr int kGruInputs = 5;  // of one direction
// Steps without values take no memory, but each of them multiplies by the weights.
constexpr int64_t kMaxEmptySteps = 1 << 16;

int64_t checkedHidden(int64_t hidden, const char* name) {
    if (hidden < 1)
        fail(Status::BadParameter, "op '%s': the state has %lld values, at least 1 is needed", name, asLong(hidden));
    return hidden;
}

// Rows of [gates][hidden][columns] with the gates in another order.
std::vector<float> inOrder(const float* values, const int (&order)[4], int64_t hidden, int64_t columns) {
    std::vector<float> result;
    const int64_t block = hidden * columns;
    for (const int gate : order) result.insert(result.end(), values + gate * block, values + (gate + 1) * block);
    return result;
}

std::span<const float> storedFloats(const wire::Blob* blob, const char* name) {
    if (!blob) return {};
    if (blob->external() && blob->external()->size() > 0)
        fail(Status::NotSupported, "op '%s': weights of a recurrent table in an external file are not supported", name);
    if (!blob->float32s()) return {};
    return {blob->float32s()->data(), blob->float32s()->size()};
}

void readCaffeWeights(const wire::LSTM& table, RecurrentParams& params, const char* name) {
    const std::span<const float> input = storedFloats(table.weightI(), name), own = storedFloats(table.weightH(), name),
                                 bias = storedFloats(table.bias(), name);
    const int64_t hidden = checkedHidden(params.hidden, name);
    const int64_t rows = checkedMul(4, hidden, name), state = checkedMul(rows, hidden, name);
    const auto size = static_cast<int64_t>(input.size());
    const bool packed = own.empty();
    // [4H][inputs]; a packed array continues with [4H][H] and two biases of 4H values, of which only the first is used.
    const int64_t rest = packed ? checkedAdd(state, 2 * rows, name) : 0;
    if (size < rest || (size - rest) % rows != 0 || (!packed && static_cast<int64_t>(own.size()) != state))
        fail(Status::BadWeights, "op '%s': %zu and %zu weights do not fit a state of %lld values", name, input.size(),
             own.size(), asLong(hidden));
    const int64_t inputs = (size - rest) / rows;
    const float* recurrent = packed ? input.data() + rows * inputs : own.data();
    // Packed arrays have the gates in the order i, f, c, o, others i, f, o, c; i, o, f, c is needed.
    const int packedOrder[] = {0, 3, 1, 2}, order[] = {0, 2, 1, 3};
    const auto& from = packed ? packedOrder : order;
    params.inputWeights = inOrder(input.data(), from, hidden, inputs);
    params.recurrentWeights = inOrder(recurrent, from, hidden, hidden);
    if (bias.empty() && packed) {
        params.bias = inOrder(recurrent + state, from, hidden, 1);
    } else if (bias.empty()) {
        params.bias.assign(static_cast<size_t>(rows), 0.0f);
    } else {
        const auto count = static_cast<int64_t>(bias.size());
        if (count != rows && count != 2 * rows)
            fail(Status::BadWeights, "op '%s': a bias of %zu values does not fit a state of %lld values", name,
                 bias.size(), asLong(hidden));
        params.bias = inOrder(bias.data(), from, hidden, 1);
        if (count == 2 * rows) {
            const std::vector<float> second = inOrder(bias.data() + rows, from, hidden, 1);
            for (size_t i = 0; i < second.size(); ++i) params.bias[i] += second[i];
        }
    }
}

ParamsPtr parseLstm(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::LSTM* table = op.main_as_LSTM();
    if (!table) fail(Status::BadParameter, "op '%s' carries no LSTM table", name);
    auto params = std::make_shared<RecurrentParams>();
    params->hidden = checkedHidden(table->outputCount(), name);
    if (context.node.type == OpType::LSTM && context.node.inputs.size() == 1) readCaffeWeights(*table, *params, name);
    return params;
}

ParamsPtr parseGru(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::RNNParam* table = op.main_as_RNNParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no RNNParam table", name);
    auto params = std::make_shared<RecurrentParams>();
    params->hidden = checkedHidden(table->numUnits(), name);
    params->bidirectional = table->isBidirectionalRNN();
    params->linearBeforeReset = table->linearBeforeReset();
    params->keepAllOutputs = table->keepAllOutputs();
    return params;
}

void requireFloatStates(const ShapeContext& context) {
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::NotSupported, "op '%s' (%s): input %d is %s, float32 is needed", context.name(),
                 opTypeName(context.node.type), i, dataTypeName(context.in(i).type));
}

// Requires this shape. Where it is a vector, any shape with as many values will do, because converters put extents of 1
// before a bias.
void requireStateShape(const ShapeContext& context, int input, const Shape& shape) {
    const Shape& given = context.in(input).shape;
    bool fits = given.elements() == shape.elements() && given.rank() >= 1;
    if (fits && shape.rank() > 1) fits = given == shape;
    if (!fits)
        fail(Status::ComputeSizeError, "op '%s': input %d is %s, %s is needed", context.name(), input,
             given.text().c_str(), shape.text().c_str());
}

const Shape& sequenceShape(const ShapeContext& context) {
    const Shape& shape = context.in(0).shape;
    if (shape.rank() != 3)
        fail(Status::ComputeSizeError, "op '%s': its input is %s, [steps, batch, values] is needed", context.name(),
             shape.text().c_str());
    return shape;
}

// Sets the first output to all states if the operator has such an output, and the others to the last states.
void setOutputs(const ShapeContext& context, int64_t directions, bool all) {
    const int64_t hidden = context.node.paramsAs<RecurrentParams>().hidden;
    const Shape& x = context.in(0).shape;
    for (int i = 0; i < static_cast<int>(context.outputs.size()); ++i)
        context.set(i, i == 0 && all ? Shape{x[0], directions, x[1], hidden} : Shape{directions, x[1], hidden});
}

void shapeCaffeLstm(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<RecurrentParams>();
    const Shape& x = context.in(0).shape;
    const int64_t inputs = static_cast<int64_t>(params.inputWeights.size()) / (4 * params.hidden);
    if (x.rank() != 4 || x[2] != 1 || x[3] != inputs)
        fail(Status::ComputeSizeError, "op '%s': its input is %s, [batch, steps, 1, %lld] is needed", context.name(),
             x.text().c_str(), asLong(inputs));
    if (context.outputs.size() != 1)
        fail(Status::ComputeSizeError, "op '%s': an LSTM with weights in its table has %zu outputs, 1 is needed",
             context.name(), context.outputs.size());
    context.set(0, Shape{x[0], x[1], 1, params.hidden});
}

// RNN and LSTM: X, W, R, bias and optionally initial states.
void shapeLstm(const ShapeContext& context) {
    requireFloatStates(context);
    if (context.node.paramsAs<RecurrentParams>().looped) return shapeLoopedLayer(context);
    const bool lstm = context.node.type == OpType::LSTM;
    if (lstm && context.inputCount() == 1) return shapeCaffeLstm(context);
    const int minInputs = 4, states = lstm ? 2 : 1;
    const int given = context.inputCount() - minInputs;
    if ((given != 0 && given != states) || static_cast<int>(context.outputs.size()) > states + 1)
        fail(Status::ComputeSizeError, "op '%s': %d inputs and %zu outputs do not fit %s", context.name(),
             context.inputCount(), context.outputs.size(), opTypeName(context.node.type));
    const int64_t hidden = context.node.paramsAs<RecurrentParams>().hidden;
    const Shape& x = sequenceShape(context);
    const int64_t directions = context.in(1).shape.at(0), rows = checkedMul(lstm ? 4 : 1, hidden, context.name());
    if (directions != 1 && directions != 2)
        fail(Status::ComputeSizeError, "op '%s': the weights have %lld directions, 1 or 2 are possible", context.name(),
             asLong(directions));
    requireStateShape(context, 1, {directions, rows, x[2]});
    requireStateShape(context, 2, {directions, rows, hidden});
    requireStateShape(context, 3, {directions, rows});
    for (int i = minInputs; i < context.inputCount(); ++i) requireStateShape(context, i, {directions, x[1], hidden});
    setOutputs(context, directions, true);
}

void shapeGru(const ShapeContext& context) {
    requireFloatStates(context);
    const auto& params = context.node.paramsAs<RecurrentParams>();
    if (params.looped) return shapeLoopedLayer(context);
    const int64_t hidden = params.hidden, directions = params.bidirectional ? 2 : 1;
    const int weights = 1 + kGruInputs * static_cast<int>(directions);
    if (context.inputCount() != weights && context.inputCount() != weights + 1)
        fail(Status::ComputeSizeError, "op '%s' has %d inputs, %d or %d are needed", context.name(),
             context.inputCount(), weights, weights + 1);
    if (context.outputs.size() > (params.keepAllOutputs ? 2u : 1u))
        fail(Status::ComputeSizeError, "op '%s' has %zu outputs, at most %d are possible", context.name(),
             context.outputs.size(), params.keepAllOutputs ? 2 : 1);
    const Shape& x = sequenceShape(context);
    if (x[2] == 0 && x[0] > kMaxEmptySteps)
        fail(Status::LimitExceeded, "op '%s' has %lld steps without values, the limit is %lld", context.name(),
             asLong(x[0]), asLong(kMaxEmptySteps));
    const int64_t rows = checkedAdd(x[2], hidden, context.name());
    for (int i = 1; i < weights; i += kGruInputs) {
        requireStateShape(context, i, {rows, checkedMul(2, hidden, context.name())});
        requireStateShape(context, i + 1, {2 * hidden});
        requireStateShape(context, i + 2, {rows, hidden});
        requireStateShape(context, i + 3, {hidden});
        requireStateShape(context, i + 4, {checkedMul(3, hidden, context.name())});
    }
    if (context.inputCount() > weights) requireStateShape(context, weights, {directions, x[1], hidden});
    setOutputs(context, directions, params.keepAllOutputs);
}

// Exchanges the first two axes of [a][b][values].
void exchange(const OpContext& context, Tensor* from, Tensor* to, int64_t a, int64_t b, int64_t values) {
    const BoxAxis axes[] = {{a, b * values, values}, {b, values, a * values}, {values, 1, 1}};
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    context.geometry.raster(to, {from}, builder.take(), context.node.name);
}

// Caffe's form has the batch first and its weights in the table.
void geometryRecurrent(const OpContext& context) {
    if (context.node.paramsAs<RecurrentParams>().looped) return geometryLoopedLayer(context);
    if (context.inputCount() != 1) return context.geometry.emit(context.command());
    const auto& params = context.node.paramsAs<RecurrentParams>();
    const Shape& x = context.in(0).shape;
    const int64_t batch = x[0], steps = x[1], inputs = x[3], hidden = params.hidden, rows = 4 * hidden;
    Tensor* sequence = context.geometry.temporary({steps, batch, inputs}, DataType::Float32, Format::NCHW);
    Tensor* states = context.geometry.temporary({steps, 1, batch, hidden}, DataType::Float32, Format::NCHW);
    exchange(context, context.inputs[0], sequence, batch, steps, inputs);
    ValueCommand command = context.command();
    command.inputs = {sequence, modelConstant(context, {1, rows, inputs}, params.inputWeights),
                      modelConstant(context, {1, rows, hidden}, params.recurrentWeights),
                      modelConstant(context, {1, rows}, params.bias)};
    command.outputs = {states};
    context.geometry.emit(std::move(command));
    exchange(context, states, context.outputs[0], steps, batch, hidden);
}

ParamsPtr parseLstmBlock(const wire::Op& op, const ParseContext& context) {
    const wire::LSTMBlockCell* table = op.main_as_LSTMBlockCell();
    if (!table) fail(Status::BadParameter, "op '%s' carries no LSTMBlockCell table", context.node.name.c_str());
    auto params = std::make_shared<LstmBlockParams>();
    params->cellClip = table->cell_clip() > 0 ? table->cell_clip() : 0;
    params->forgetBias = table->forget_bias();
    params->peephole = table->use_peephole();
    return params;
}

// x, state, output, w, three peepholes, bias -> i, state, f, o, ci, co, output
void shapeLstmBlock(const ShapeContext& context) {
    requireFloatStates(context);
    const Shape &x = context.in(0).shape, &state = context.in(1).shape;
    if (context.inputCount() != 8 || context.outputs.size() > 7)
        fail(Status::ComputeSizeError, "op '%s': %d inputs and %zu outputs do not fit LSTMBlockCell", context.name(),
             context.inputCount(), context.outputs.size());
    if (x.rank() != 2 || state.rank() != 2 || x[0] != state[0])
        fail(Status::ComputeSizeError, "op '%s': an input of %s and a state of %s do not fit together", context.name(),
             x.text().c_str(), state.text().c_str());
    const int64_t hidden = state[1], columns = checkedMul(4, hidden, context.name());
    requireStateShape(context, 2, state);
    requireStateShape(context, 3, {checkedAdd(x[1], hidden, context.name()), columns});
    if (context.node.paramsAs<LstmBlockParams>().peephole)
        for (int i = 4; i < 7; ++i) requireStateShape(context, i, {hidden});
    requireStateShape(context, 7, {columns});
    for (int i = 0; i < static_cast<int>(context.outputs.size()); ++i) context.set(i, state);
}

// Counts two operations for each weight and each row that is multiplied by it.
double recurrentFlops(const ShapeContext& context) {
    const auto& params = context.node.paramsAs<RecurrentParams>();
    if (params.looped) return loopedLayerFlops(context);
    const Shape& x = context.in(0).shape;
    const double rows = static_cast<double>(x[0]) * static_cast<double>(x[1]);
    if (context.inputCount() == 1)
        return 2 * rows * static_cast<double>(params.inputWeights.size() + params.recurrentWeights.size());
    // GRU: the matrices of the gates and of the candidate for each direction; others: W and R of all directions.
    const bool gru = context.node.type == OpType::RNNSequenceGRU;
    double weights = 0;
    for (int i = 1; i < (gru ? context.inputCount() - 1 : 3); i += gru ? kGruInputs : 1)
        for (int matrix = i; matrix <= i + (gru ? 2 : 0); matrix += 2)
            weights += static_cast<double>(context.in(matrix).elements());
    return 2 * rows * weights;
}

double lstmBlockFlops(const ShapeContext& context) {
    return 2.0 * static_cast<double>(context.in(3).elements()) * static_cast<double>(context.in(0).shape[0]);
}

}  // namespace

constexpr OpDef kRecurrentOps[] = {
    {.type = OpType::LSTM,
     .parse = parseLstm,
     .shape = shapeLstm,
     .geometry = geometryRecurrent,
     .flops = recurrentFlops},
    {.type = OpType::RNN, .parse = parseLstm, .shape = shapeLstm, .flops = recurrentFlops},
    {.type = OpType::RNNSequenceGRU,
     .parse = parseGru,
     .shape = shapeGru,
     .geometry = geometryRecurrent,
     .flops = recurrentFlops},
    {.type = OpType::LSTMBlockCell, .parse = parseLstmBlock, .shape = shapeLstmBlock, .flops = lstmBlockFlops},
};
extern constinit const OpFamily recurrentOps = kRecurrentOps;

}  // namespace mnnc
