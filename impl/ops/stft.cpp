// Stft: the Fourier transforms of windows of a signal (formula: https://onnx.ai/onnx/operators/onnx__STFT.html).
#include "ops/stft.h"

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

// The transform is a product with a matrix of window x bins values.
constexpr int64_t kMaxWindowSamples = 8192;

ParamsPtr parseStft(const wire::Op& op, const ParseContext& context) {
    const wire::StftParam* table = op.main_as_StftParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no StftParam table", context.node.name.c_str());
    auto params = std::make_shared<StftParams>();
    params->oneSided = table->abs();
    return params;
}

// The inputs are a signal [batch, length], [batch, length, 1] or, with complex numbers, [batch, length, 2], the step,
// and the window.
void shapeStft(const ShapeContext& context) {
    const Shape &signal = context.in(0).shape, &window = context.in(2).shape;
    for (const int i : {0, 2})
        if (context.in(i).type != DataType::Float32)
            fail(Status::NotSupported, "op '%s' (Stft): input %d is %s, float32 is needed", context.name(), i,
                 dataTypeName(context.in(i).type));
    const int rank = signal.rank();
    if (context.inputCount() != 3 || (rank != 2 && !(rank == 3 && (signal[2] == 1 || signal[2] == 2))))
        fail(Status::ComputeSizeError,
             "op '%s' has %d inputs and a signal of %s; 3 inputs and [batch, length] or [batch, length, 1 or 2] are "
             "needed",
             context.name(), context.inputCount(), signal.text().c_str());
    const int64_t step = context.intAt(1), size = window.elements();
    if (window.rank() != 1 || size < 1 || size > signal[1])
        fail(Status::ComputeSizeError, "op '%s': a window of %s does not fit a signal of %s", context.name(),
             window.text().c_str(), signal.text().c_str());
    if (step < 1)
        fail(Status::BadRange, "op '%s': the step is %lld, at least 1 is needed", context.name(), asLong(step));
    if (size > kMaxWindowSamples)
        fail(Status::NotSupported, "op '%s' (Stft): the window has %lld values, the limit is %lld", context.name(),
             asLong(size), asLong(kMaxWindowSamples));
    const int64_t bins = context.node.paramsAs<StftParams>().oneSided ? size / 2 + 1 : size;
    context.set(0, Shape{signal[0], (signal[1] - size) / step + 1, bins, 2});
}

double stftFlops(const ShapeContext& context) {
    return 2.0 * static_cast<double>(context.out(0).elements()) * static_cast<double>(context.in(2).elements()) *
           static_cast<double>(context.in(0).shape.at(2));
}

}  // namespace

constexpr OpDef kStftOps[] = {
    {.type = OpType::Stft, .parse = parseStft, .shape = shapeStft, .valueInputs = contentOfInput1, .flops = stftFlops},
};
extern constinit const OpFamily stftOps = kStftOps;

}  // namespace mnnc
