// Computes the extents, begin pads and groups of convolutions, on which shape rules and executions must agree. Some
// rules look odd (VALID with an offset), but models were made for them.
#include <algorithm>
#include <limits>

#include "ops/convolution.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

struct AxisRule {
    int64_t in, kernel, stride, dilate;
    int64_t begin, end;  // explicit pads
    int64_t extra;       // outPads of a deconvolution
    int64_t effective() const { return (kernel - 1) * dilate + 1; }
};

int64_t forwardExtent(const AxisRule& a, ConvPad mode) {
    switch (mode) {
        case ConvPad::Same:
            return ceilDiv(a.in, a.stride);
        case ConvPad::Valid:
            return a.in < a.effective() ? 0 : ceilDiv(a.in - a.effective() + 1, a.stride);
        case ConvPad::Explicit:
            break;
    }
    const int64_t padded = a.in + a.begin + a.end;
    return padded < a.effective() ? 0 : (padded - a.effective()) / a.stride + 1;
}

int64_t transposedExtent(const AxisRule& a, ConvPad mode) {
    if (mode == ConvPad::Same) return checkedMul(a.in, a.stride, "deconvolution extent");
    return checkedMul(a.in - 1, a.stride, "deconvolution extent") + a.effective() - a.begin - a.end + a.extra;
}

// SAME puts the smaller half first. As in TensorFlow, it never crops where a stride exceeds its kernel:
// https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2
int64_t beginPad(const AxisRule& a, int64_t out, bool transposed, ConvPad mode) {
    if (mode != ConvPad::Same) return a.begin;
    const int64_t covered = ((transposed ? a.in : out) - 1) * a.stride + a.effective();
    return std::max<int64_t>(0, covered - (transposed ? out : a.in)) / 2;
}

// Returns the number of groups that tensor weights imply: the number of weights gives the channels of one group.
int64_t groupsOfTensor(int64_t elements, int64_t rows, int64_t taps, int64_t channels, const char* name) {
    const int64_t unit = checkedMul(rows, taps, name);
    const int64_t perGroup = unit > 0 && elements % unit == 0 ? elements / unit : 0;
    if (perGroup == 0 || channels % perGroup != 0)
        fail(Status::ComputeSizeError,
             "%s: a weight tensor of %lld elements does not fit %lld x %lld channels and %lld taps", name,
             asLong(elements), asLong(rows), asLong(channels), asLong(taps));
    return channels / perGroup;
}

int64_t forwardGroups(const ConvParams& p, int64_t ic, const char* name) {
    const int64_t stated = p.inputCount;
    if (stated == 0 || stated == ic) return p.group;
    if (stated * p.group != ic)
        fail(Status::ComputeSizeError, "%s: the input has %lld channels, the weights are for %lld in %d groups", name,
             asLong(ic), asLong(stated), p.group);
    return ic / stated;
}

// The number of elements alone would also fit weights in another order.
void requireWeightExtents(const Shape& shape, int64_t rows, const ConvWindow& w, const char* name) {
    if (shape[0] == rows && shape[2] == w.kh && shape[3] == w.kw) return;
    fail(Status::ComputeSizeError, "%s: the weights are %s; %lld rows of %lld x %lld windows are needed", name,
         shape.text().c_str(), asLong(rows), asLong(w.kh), asLong(w.kw));
}

}  // namespace

ConvWindow convWindow(OpType type, const ConvParams& params, const Shape& input, const Tensor* weight,
                      const int64_t* outputSize, const char* name) {
    if (input.rank() < 2 || input.rank() > 4)
        fail(Status::ComputeSizeError, "%s: an input of rank 2 to 4 is needed, this one is %s", name,
             input.text().c_str());
    const bool transposed = isDeconvolution(type);
    const bool depthwise = isDepthwise(type);
    ConvWindow w;
    w.batch = requireInt(input[0], "batch", name);
    w.ic = requireInt(input[1], "channel count", name);
    w.ih = requireInt(input.at(2), "input height", name);
    w.iw = requireInt(input.at(3), "input width", name);
    w.oc = params.outputCount;
    w.kh = params.kernelY;
    w.kw = params.kernelX;
    if (w.ic < 1) fail(Status::ComputeSizeError, "%s: the input %s has no channels", name, input.text().c_str());
    if (w.ih < 1 || w.iw < 1)
        fail(Status::ComputeSizeError, "%s: the input %s has an empty plane", name, input.text().c_str());

    if (weight && params.outputCount == 0) {
        const Shape& s = weight->shape;
        if (s.rank() < 2 || s.rank() > 4)
            fail(Status::ComputeSizeError, "%s: a weight tensor of rank 2 to 4 is needed, this one is %s", name,
                 s.text().c_str());
        w.kh = requireInt(s.at(2), "kernel height", name);
        w.kw = requireInt(s.at(3), "kernel width", name);
        w.oc = depthwise ? w.ic : transposed ? checkedMul(s[1], params.group, name) : s[0];
        if (w.kh < 1 || w.kw < 1 || (w.kh - 1) > (1 << 20) || (w.kw - 1) > (1 << 20))
            fail(Status::ComputeSizeError, "%s: a kernel of %lld x %lld cannot be used", name, asLong(w.kh),
                 asLong(w.kw));
    }
    if (w.oc < 1)
        fail(Status::ComputeSizeError, "%s: the operator has %lld output channels, at least 1 is needed", name,
             asLong(w.oc));
    requireInt(w.oc, "output channel count", name);
    if (depthwise && w.oc != w.ic)
        fail(Status::ComputeSizeError,
             "%s: a depthwise operator has %lld input and %lld output channels, equal numbers are needed", name,
             asLong(w.ic), asLong(w.oc));

    const int64_t taps = checkedMul(w.kh, w.kw, name);
    if (depthwise)
        w.groups = w.ic;
    else if (weight)
        w.groups = transposed ? groupsOfTensor(weight->elements(), w.ic, taps, w.oc, name)
                              : groupsOfTensor(weight->elements(), w.oc, taps, w.ic, name);
    else
        w.groups = transposed ? params.group : forwardGroups(params, w.ic, name);
    if (transposed && !depthwise && !weight && params.inputCount > 0 && params.inputCount != w.ic &&
        int64_t{params.inputCount} * params.group != w.ic)
        fail(Status::ComputeSizeError, "%s: the input has %lld channels, the weights are for %d", name, asLong(w.ic),
             params.inputCount);
    if (w.ic % w.groups != 0 || w.oc % w.groups != 0)
        fail(Status::ComputeSizeError, "%s: %lld groups do not divide %lld input and %lld output channels", name,
             asLong(w.groups), asLong(w.ic), asLong(w.oc));
    if (weight && weight->shape.rank() == 4) requireWeightExtents(weight->shape, transposed ? w.ic : w.oc, w, name);
    w.weightCount = checkedMul(checkedMul(w.oc, w.ic / w.groups, name), taps, name);
    const int64_t given = weight ? weight->elements() : params.storedWeights;
    if (given >= 0 && given != w.weightCount)
        fail(weight ? Status::ComputeSizeError : Status::BadWeights,
             "%s: the operator has %lld weights, %lld are needed", name, asLong(given), asLong(w.weightCount));

    // Kernels address a window with 32-bit offsets.
    constexpr int64_t kMaxWindow = 1 << 24;
    if (checkedMul(w.kh - 1, params.dilateY, name) >= kMaxWindow ||
        checkedMul(w.kw - 1, params.dilateX, name) >= kMaxWindow || taps > kMaxWindow)
        fail(Status::ComputeSizeError, "%s: a window of %lld x %lld taps, dilated by %d x %d, is too large", name,
             asLong(w.kh), asLong(w.kw), params.dilateY, params.dilateX);

    const std::vector<int>& pads = params.pads;
    const bool explicitEnds = pads.size() >= 4;  // two values move only the origin
    AxisRule rows{w.ih, w.kh, params.strideY, params.dilateY, params.padY, params.padY, 0};
    AxisRule columns{w.iw, w.kw, params.strideX, params.dilateX, params.padX, params.padX, 0};
    if (explicitEnds) {
        rows.begin = pads[0], columns.begin = pads[1];
        rows.end = pads[2], columns.end = pads[3];
    }
    if (params.outPads.size() >= 2) {
        rows.extra = params.outPads[0];
        columns.extra = params.outPads[1];
    }
    if (outputSize) {
        w.oh = outputSize[0];
        w.ow = outputSize[1];
    } else if (transposed) {
        w.oh = transposedExtent(rows, params.padMode);
        w.ow = transposedExtent(columns, params.padMode);
    } else {
        w.oh = forwardExtent(rows, params.padMode);
        w.ow = forwardExtent(columns, params.padMode);
    }
    requireInt(w.oh, "output height", name);
    requireInt(w.ow, "output width", name);
    if (w.oh < 0 || w.ow < 0 || (transposed && (w.oh == 0 || w.ow == 0)))
        fail(Status::ComputeSizeError, "%s: the output would be %lld x %lld", name, asLong(w.oh), asLong(w.ow));
    if ((input.rank() < 4 && w.ow > 1) || (input.rank() < 3 && w.oh > 1))
        fail(Status::ComputeSizeError, "%s: an output of %lld x %lld does not fit the rank %d of the input", name,
             asLong(w.oh), asLong(w.ow), input.rank());
    if (!pads.empty()) {
        rows.begin = pads[0];
        columns.begin = pads[1];
    }
    w.padTop = beginPad(rows, w.oh, transposed, params.padMode);
    w.padLeft = beginPad(columns, w.ow, transposed, params.padMode);
    if (std::max(w.padTop, w.padLeft) > kMaxPad)  // with SAME, strides and a stated output size decide
        fail(Status::ComputeSizeError, "%s: the output would have a padding of %lld x %lld", name, asLong(w.padTop),
             asLong(w.padLeft));
    return w;
}

}  // namespace mnnc
