// Pooling and Pooling3D: parameters, shape rules, cost.
// A window that would start in the end padding is left out, and a pads list changes what an average counts.
#include "ops/pooling.h"

#include <algorithm>
#include <limits>

#include "mnn_generated.h"
#include "ops/cast.h"
#include "ops/channel_first.h"
#include "ops/convolution.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

// Files of one converter have strides of 0 in place of 1.
void checkWindow(PoolParams& p, const char* name) {
    for (const int value : p.kernel) requireRange(value, 1, kMaxWindowExtent, "the kernel", name);
    for (int& value : p.stride) {
        if (value == 0) value = 1;
        requireRange(value, 1, kMaxWindowExtent, "the stride", name);
    }
    for (const int value : p.pad) requireRange(value, 0, kMaxWindowExtent, "the padding", name);
    for (const int value : p.pads) requireRange(value, 0, kMaxWindowExtent, "pads", name);
}

}  // namespace

ParamsPtr parsePooling(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Pool* table = op.main_as_Pool();
    if (!table) fail(Status::BadParameter, "%s: the pooling parameters are missing", name);
    auto p = std::make_shared<PoolParams>();
    requireRange(static_cast<int>(table->type()), 0, 1, "the pooling type", name);
    p->average = table->type() == wire::PoolType::AVEPOOL;
    p->global = table->isGlobal();
    if (context.node.outputs.size() > 1 && p->average)
        fail(Status::BadParameter, "%s: an average pooling has no second output", name);
    if (p->global) return p;
    requireRange(static_cast<int>(table->padType()), 0, 2, "padType", name);
    requireRange(static_cast<int>(table->countType()), 0, 2, "countType", name);
    p->padType = static_cast<PoolPad>(table->padType());
    p->count = static_cast<PoolCount>(table->countType());
    p->ceil = table->ceilModel();
    p->kernel = {table->kernelY(), table->kernelX()};
    p->stride = {table->strideY(), table->strideX()};
    p->pad = {table->padY(), table->padX()};
    if (const auto* pads = table->pads(); pads && pads->size() > 0) {
        if (pads->size() != 2 && pads->size() < 4)
            fail(Status::BadParameter, "%s: pads has %u values, 2 or 4 are needed", name, pads->size());
        p->pads.assign(pads->begin(), pads->begin() + (pads->size() >= 4 ? 4 : 2));
    }
    checkWindow(*p, name);
    if (p->padType != PoolPad::Explicit && (p->pad[0] != 0 || p->pad[1] != 0))
        fail(Status::BadParameter, "%s: a padding of %d x %d is given with padType %d, which allows none", name,
             p->pad[0], p->pad[1], static_cast<int>(p->padType));
    return p;
}

namespace {

std::vector<int> firstThree(const flatbuffers::Vector<int32_t>* list) {
    if (!list) return {};
    return std::vector<int>(list->begin(), list->begin() + std::min<uint32_t>(list->size(), 3));
}

ParamsPtr parsePooling3d(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Pool3D* table = op.main_as_Pool3D();
    if (!table) fail(Status::BadParameter, "%s: the pooling parameters are missing", name);
    auto p = std::make_shared<PoolParams>();
    requireRange(static_cast<int>(table->type()), 0, 1, "the pooling type", name);
    if (context.node.outputs.size() > 1)
        fail(Status::NotSupported, "%s: a 3-D pooling with a second output is not implemented", name);
    p->average = table->type() == wire::PoolType::AVEPOOL;
    p->global = table->isGlobal();
    p->spatial3d = true;
    p->ceil = false;
    if (p->global) return p;
    requireRange(static_cast<int>(table->padType()), 0, 2, "padType", name);
    p->padType = static_cast<PoolPad>(table->padType());
    p->kernel = firstThree(table->kernels());
    p->stride = firstThree(table->strides());
    p->pad = firstThree(table->pads());
    if (p->kernel.empty()) fail(Status::BadParameter, "%s: a pooling that is not global has no kernels", name);
    checkWindow(*p, name);
    return p;
}

struct Padding {
    int64_t begin, end;
};

// Returns the padding of an axis with `out` outputs; `stored`: the padding in the file.
Padding ownPadding(const PoolParams& p, const PoolAxis& axis, Padding stored) {
    if (p.padType == PoolPad::Explicit) return stored;
    if (p.padType == PoolPad::Valid) return {0, 0};
    const int64_t reach = (int64_t{axis.out} - 1) * axis.stride + axis.kernel;
    const int64_t total = std::max<int64_t>(0, reach - axis.in);
    return {total / 2, total - total / 2};
}

PoolAxis makeAxis(const PoolParams& p, int64_t in, int64_t out, int64_t kernel, int64_t stride, Padding stored) {
    PoolAxis axis;
    axis.in = static_cast<int>(in);
    axis.out = static_cast<int>(out);
    axis.kernel = static_cast<int>(kernel);
    axis.stride = static_cast<int>(stride);
    const Padding padding = ownPadding(p, axis, stored);
    axis.begin = static_cast<int>(padding.begin);
    axis.end = static_cast<int>(padding.end);
    return axis;
}

// Returns an axis of a Pooling: 0 is the height, 1 the width.
PoolAxis planeAxis(const PoolParams& p, int which, int64_t in, const char* name) {
    const auto w = static_cast<size_t>(which);
    const int64_t stride = p.stride[w], kernel = p.kernel[w];
    Padding stored{p.pad[w], p.pad[w]};
    if (p.pads.size() == 4) stored = {p.pads[w], p.pads[w + 2]};
    if (p.pads.size() == 2) stored = which == 0 ? Padding{p.pads[0], p.pads[1]} : Padding{0, 0};
    const int64_t padded = in + stored.begin + stored.end;
    const int64_t k = std::min(kernel, padded);
    int64_t out = 0;
    if (p.padType == PoolPad::Same)
        out = ceilDiv(padded, stride);
    else if (p.padType == PoolPad::Valid)
        out = ceilDiv(padded - k + 1, stride);
    else
        out = (p.ceil ? ceilDiv(padded - k, stride) : (padded - k) / stride) + 1;
    // As in PyTorch and ONNX, an additional window due to `ceil` starts in the map or in the padding before it.
    if (p.padType == PoolPad::Explicit && p.ceil) out = std::min(out, (in + stored.begin - 1) / stride + 1);
    if (out < 1 || out > std::numeric_limits<int>::max())
        fail(Status::ComputeSizeError, "%s: a window of %lld over %lld gives %lld outputs", name, asLong(kernel),
             asLong(in), asLong(out));
    PoolAxis axis = makeAxis(p, in, out, kernel, stride, stored);
    axis.countsPadding = p.count == PoolCount::IncludePadding ||
                         (p.count == PoolCount::Default && p.padType == PoolPad::Explicit && p.pads.empty());
    return axis;
}

// Spatial axis i of a Pooling3D. The table has no flag for counting padding in averages; it is not counted, which is
// ONNX's default.
PoolAxis spatialAxis(const PoolParams& p, int i, int64_t in, const char* name) {
    const auto at = static_cast<size_t>(i);
    if (at >= p.kernel.size())
        fail(Status::ComputeSizeError, "%s: the pooling has %zu kernel values and none for spatial axis %d", name,
             p.kernel.size(), i);
    const int64_t kernel = p.kernel[at];
    const int64_t stride = at < p.stride.size() ? p.stride[at] : 1;
    const int64_t pad = at < p.pad.size() ? p.pad[at] : 0;
    const Padding stored{pad, pad};
    int64_t out = 0;
    if (p.padType == PoolPad::Same)
        out = ceilDiv(in, stride);
    else {
        const int64_t room = in + (p.padType == PoolPad::Explicit ? 2 * pad : 0) - kernel;
        out = room < 0 ? 0 : room / stride + 1;
    }
    if (out < 1 || out > std::numeric_limits<int>::max())
        fail(Status::ComputeSizeError, "%s: a window of %lld over %lld gives %lld outputs on axis %d", name,
             asLong(kernel), asLong(in), asLong(out), i);
    return makeAxis(p, in, out, kernel, stride, stored);
}

void poolingShape(const ShapeContext& context) {
    const PoolParams& params = context.node.paramsAs<PoolParams>();
    const Tensor& x = context.in(0);
    const bool bytes = x.type == DataType::Int8 || (x.type == DataType::UInt8 && !params.average);
    if (x.type != DataType::Float32 && !bytes)
        fail(Status::NotSupported, "%s: %s pooling of %s is not implemented", context.name(),
             params.average ? "average" : "maximum", dataTypeName(x.type));
    Shape out = channelFirstShape(x, context.name());
    const PoolWindow w = poolWindow(params, out, context.name());
    if (params.global)
        for (int i = 2; i < out.rank(); ++i) out[i] = 1;
    else
        for (int i = 2; i < out.rank(); ++i) out[i] = w.axis[out.rank() == 5 ? i - 2 : i - 1].out;
    out = shapeInFormat(out, x.format);
    context.set(0, out);
    if (context.outputs.size() > 1) context.set(1, out, DataType::Int32, x.format);
}

// Maxima of bytes are computed as floats where no kernel supports bytes; that is exact.
void poolingGeometry(const OpContext& context) {
    Tensor* const x = context.inputs[0];
    Tensor* const y = context.outputs[0];
    const bool asFloats = x->type == DataType::UInt8 || (x->type == DataType::Int8 && context.outputs.size() > 1);
    ValueCommand command = context.command();
    if (!asFloats) return emitChannelFirst(context, std::move(command));
    command.inputs[0] = context.geometry.temporary(x->shape, DataType::Float32, x->format);
    command.outputs[0] = context.geometry.temporary(y->shape, DataType::Float32, y->format);
    Tensor* const result = command.outputs[0];
    emitCast(context, x, command.inputs[0]);
    emitChannelFirst(context, std::move(command));
    emitCast(context, result, y);
}

double poolingFlops(const ShapeContext& context) {
    const PoolParams& params = context.node.paramsAs<PoolParams>();
    double taps = static_cast<double>(context.out(0).elements());
    if (params.global) return static_cast<double>(context.in(0).elements());
    for (const int k : params.kernel) taps *= k;
    return taps;
}

}  // namespace

PoolWindow poolWindow(const PoolParams& params, const Shape& input, const char* name) {
    const int rank = input.rank();
    if (rank < 2 || (rank > 5 && !params.global) || (rank > 4 && !params.spatial3d && !params.global))
        fail(Status::ComputeSizeError, "%s: an input of rank 2 to %d is needed, this one is %s", name,
             params.spatial3d ? 5 : 4, input.text().c_str());
    for (int i = 1; i < rank; ++i)
        if (input[i] < 1 || input[i] > std::numeric_limits<int>::max() / 2)
            fail(Status::ComputeSizeError, "%s: the extents %s cannot be pooled", name, input.text().c_str());
    PoolWindow w;
    if (params.global) {
        const int64_t plane = input.elements(2, rank);
        if (plane > std::numeric_limits<int>::max())
            fail(Status::Overflow, "%s: a plane of %lld elements is too large", name, asLong(plane));
        w.axis[2].in = w.axis[2].kernel = w.axis[2].stride = static_cast<int>(plane);
        return w;
    }
    if (!params.spatial3d) {
        w.axis[1] = planeAxis(params, 0, input.at(2), name);
        w.axis[2] = planeAxis(params, 1, input.at(3), name);
        if ((rank < 4 && w.axis[2].out != 1) || (rank < 3 && w.axis[1].out != 1))
            fail(Status::ComputeSizeError, "%s: an output of %d x %d does not fit the rank %d of the input", name,
                 w.axis[1].out, w.axis[2].out, rank);
        return w;
    }
    const int spatial = rank - 2;
    for (int i = 0; i < spatial; ++i) w.axis[spatial == 3 ? i : i + 1] = spatialAxis(params, i, input[2 + i], name);
    return w;
}

constexpr OpDef kPoolingOps[] = {
    {.type = OpType::Pooling,
     .parse = parsePooling,
     .shape = poolingShape,
     .geometry = poolingGeometry,
     .flops = poolingFlops},
    {.type = OpType::Pooling3D,
     .parse = parsePooling3d,
     .shape = poolingShape,
     .geometry = poolingGeometry,
     .flops = poolingFlops},
};
extern constinit const OpFamily poolingOps = kPoolingOps;

}  // namespace mnnc
