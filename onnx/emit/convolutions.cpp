// Convolutions and transposed ones, over one, two or three spatial axes.
#include <algorithm>

#include "../importer.h"
#include "base/checked.h"
#include "base/error.h"
#include "codes.h"
#include "windows.h"

namespace mnnc::onnx {
namespace {

struct Layer {
    V x = nullptr, weight = nullptr, bias = nullptr;
    Windows windows;
    int64_t group = 1, in = 0, out = 0;  // channels
    std::vector<int64_t> outPads;        // for transposed ones
};

std::vector<int32_t> narrowAll(const std::vector<int64_t>& values) {
    return intList(values)->ints;
}

// For one and two axes: height and width.
wire::Convolution2DT planeTable(const Layer& layer) {
    wire::Convolution2DT table;
    table.common = std::make_unique<wire::Convolution2DCommonT>();
    wire::Convolution2DCommonT& common = *table.common;
    const Windows& w = layer.windows;
    common.kernelY = narrow(w.kernel[0]);
    common.strideY = narrow(w.strides[0]);
    common.dilateY = narrow(w.dilations[0]);
    common.padY = narrow(w.begin[0]);
    const bool plane = w.axes == 2;
    common.kernelX = plane ? narrow(w.kernel[1]) : 1;
    common.strideX = plane ? narrow(w.strides[1]) : 1;
    common.dilateX = plane ? narrow(w.dilations[1]) : 1;
    common.padX = plane ? narrow(w.begin[1]) : 0;
    common.pads = {common.padY, common.padX, narrow(w.end[0]), plane ? narrow(w.end[1]) : 0};
    common.padMode = w.same ? wire::PadMode::SAME : wire::PadMode::CAFFE;
    common.group = narrow(layer.group);
    common.inputCount = narrow(layer.in);
    common.outputCount = narrow(layer.out);
    if (std::any_of(layer.outPads.begin(), layer.outPads.end(), [](int64_t p) { return p != 0; })) {
        common.outPads = narrowAll(layer.outPads);
        common.outPads.resize(2, 0);
    }
    return table;
}

wire::Convolution3DT volumeTable(const Layer& layer) {
    wire::Convolution3DT table;
    table.common = std::make_unique<wire::Convolution3DCommonT>();
    wire::Convolution3DCommonT& common = *table.common;
    const Windows& w = layer.windows;
    common.kernels = narrowAll(w.kernel);
    common.strides = narrowAll(w.strides);
    common.dilates = narrowAll(w.dilations);
    if (!w.same) {  // the list would override the padding of SAME
        common.pads = narrowAll(w.begin);
        for (const int32_t pad : narrowAll(w.end)) common.pads.push_back(pad);
    }
    common.padMode = w.same ? wire::PadMode::SAME : wire::PadMode::CAFFE;
    common.group = narrow(layer.group);
    common.inputCount = narrow(layer.in);
    common.outputCount = narrow(layer.out);
    if (!layer.outPads.empty()) common.outPads = narrowAll(layer.outPads);
    return table;
}

std::vector<float> biasOf(Call& c, const Layer& layer) {
    c.b.requireRoom({layer.out});
    return layer.bias ? layer.bias->array().allFloats() : std::vector<float>(static_cast<size_t>(layer.out), 0.0f);
}

// Sets the table's description of the weights.
template <typename Table>
void fillWeights(Call& c, Table& table, const Layer& layer) {
    table.weight = layer.weight->array().allFloats();
    table.bias = biasOf(c, layer);
}

// Weights that were codes in the file stay codes.
void takeCodes(Call& c, wire::Convolution2DT& table, const Layer& layer) {
    const std::optional<WeightCodes> codes = rowCodes(*layer.weight, 0);
    // Sums of codes over single channels ignore the zero points of weights.
    const bool depthwise = layer.group > 1 && layer.group == layer.in && layer.group == layer.out;
    if (!codes || (depthwise && !codes->lows.empty())) return;
    table.quanParameter = tableOf(*codes);
    c.importer.countCoded();
}

// The extents of the result by the rules of ONNX; they do not depend on the weights' values.
Output resultOf(Call& c, const Layer& layer, bool transposed) {
    Output result;
    const Windows& w = layer.windows;
    for (size_t p = 0; p < kProbes; ++p) {
        const Dims& in = layer.x->dims[p];
        result.dims[p] = {in[0], layer.out};
        for (size_t i = 0; i < w.axes; ++i) {
            const int64_t pads = checkedAdd(w.begin[i], w.end[i], "padding");
            const int64_t extent = transposed ? checkedMul(in[i + 2] - 1, w.strides[i], "an extent") + w.reach(i) -
                                                    pads + (layer.outPads.empty() ? 0 : layer.outPads[i])
                                              : w.outExtent(i, in[i + 2]);
            result.dims[p].push_back(requireWindow(c, *layer.x, i, p, extent));
        }
    }
    return result;
}

V write(Call& c, const Layer& layer, bool transposed) {
    const bool constant = layer.weight->constant && (!layer.bias || layer.bias->constant);
    const bool depthwise = layer.group > 1 && layer.group == layer.in && layer.group == layer.out;
    const Output result = resultOf(c, layer, transposed);
    if (layer.windows.axes == 3) {
        if (!constant) refuse("its weights are fed, and it has three spatial axes");
        wire::Convolution3DT table = volumeTable(layer);
        fillWeights(c, table, layer);
        const OpType type = transposed ? OpType::ConvTranspose3D : OpType::Convolution3D;
        return c.b.given(type, table, {layer.x}, {result})[0];
    }
    const OpType type = transposed  ? depthwise ? OpType::DeconvolutionDepthwise : OpType::Deconvolution
                        : depthwise ? OpType::ConvolutionDepthwise
                                    : OpType::Convolution;
    wire::Convolution2DT table = planeTable(layer);
    if (constant && transposed) {
        fillWeights(c, table, layer);
        return c.b.given(type, table, {layer.x}, {result})[0];
    }
    if (constant) {
        table.bias = biasOf(c, layer);
        takeCodes(c, table, layer);
        V y = c.b.given(type, table, {layer.x}, {result})[0];
        if (table.quanParameter)
            c.b.setCodes(layer.weight->codes->codes, false);
        else
            c.b.setWeights(layer.weight->content[0], false);
        return y;
    }
    std::vector<V> inputs{layer.x, layer.weight};
    if (layer.windows.axes == 1) inputs[1] = unsqueeze(c, layer.weight, {3});
    if (layer.bias) inputs.push_back(layer.bias);
    return c.b.given(type, table, inputs, {result})[0];
}

// Splits groups of a layer whose weights are inputs: one layer for each, because the format lacks groups there.
V writeGroups(Call& c, const Layer& layer, bool transposed) {
    const bool constant = layer.weight->constant && (!layer.bias || layer.bias->constant);
    const bool depthwise = layer.group == layer.in && layer.group == layer.out;
    const bool volume = layer.windows.axes == 3;
    if (layer.group == 1 || (constant && !(volume && transposed)) || (depthwise && !volume))
        return write(c, layer, transposed);
    std::vector<V> parts;
    const int64_t in = layer.in / layer.group, out = layer.out / layer.group;
    for (int64_t g = 0; g < layer.group; ++g) {
        Layer part = layer;
        part.group = 1;
        part.in = in;
        part.out = out;
        part.x = sliceAxis(c, layer.x, 1, g * in, (g + 1) * in);
        const int64_t rows = transposed ? in : out;
        part.weight = sliceAxis(c, layer.weight, 0, g * rows, (g + 1) * rows);
        if (layer.bias) part.bias = sliceAxis(c, layer.bias, 0, g * out, (g + 1) * out);
        parts.push_back(write(c, part, transposed));
    }
    return concat(c, parts, 1);
}

Layer readLayer(Call& c, bool transposed) {
    Layer layer;
    layer.x = c.in(0);
    layer.weight = c.in(1);
    layer.bias = c.maybe(2);
    layer.group = c.integer("group", 1);
    const size_t rank = layer.x->rank();
    if (!layer.x->isFloat()) refuse("its input is of integers");
    if (layer.weight->rank() != rank)
        fail(Status::BadFormat, "the weights have rank %zu, the input has rank %zu", layer.weight->rank(), rank);
    if (rank < 3 || (transposed && rank > 5))
        refuse("it has %zu spatial axes; there are forms for 1, 2 and 3", rank - 2);
    std::vector<int64_t> kernel;
    const std::vector<int64_t> given = c.integers("kernel_shape").value_or(std::vector<int64_t>());
    for (size_t i = 2; i < rank; ++i)
        kernel.push_back(!layer.weight->fixed(i) && given.size() == rank - 2 ? given[i - 2] : layer.weight->extent(i));
    layer.windows = readWindows(c, *layer.x, kernel, transposed);
    if (layer.windows.kernel != kernel)
        fail(Status::BadFormat, "kernel_shape is %s, the weights have the shape %s",
             dimsText(layer.windows.kernel).c_str(), dimsText(layer.weight->dims[0]).c_str());
    if (layer.group < 1) fail(Status::BadRange, "group is %lld; it must be 1 or more", asLong(layer.group));
    return layer;
}

void requireChannels(const Layer& layer) {
    // A file may leave the number of channels open: then the weights determine it.
    if (layer.x->fixed(1) && layer.x->dims[0][1] != layer.in)
        fail(Status::ComputeSizeError, "the input has %lld channels, the weights are for %lld",
             asLong(layer.x->dims[0][1]), asLong(layer.in));
    if (layer.in % layer.group != 0 || layer.out % layer.group != 0)
        fail(Status::BadFormat, "%lld groups do not divide %lld input and %lld output channels", asLong(layer.group),
             asLong(layer.in), asLong(layer.out));
    if (layer.bias && (layer.bias->rank() != 1 || layer.bias->extent(0) != layer.out))
        fail(Status::BadFormat, "the bias has the shape %s; %lld numbers are needed",
             dimsText(layer.bias->dims[0]).c_str(), asLong(layer.out));
}

V convolved(Call& c, Layer layer) {
    layer.out = layer.weight->extent(0);
    layer.in = checkedMul(layer.weight->extent(1), layer.group, "channels");
    requireChannels(layer);
    for (size_t i = 0; i < layer.windows.axes; ++i)
        if (layer.windows.begin[i] < 0 || layer.windows.end[i] < 0) {
            std::vector<int64_t> before(layer.x->rank(), 0), after(before);
            for (size_t k = 0; k < layer.windows.axes; ++k) {
                before[k + 2] = layer.windows.begin[k];
                after[k + 2] = layer.windows.end[k];
                layer.windows.begin[k] = layer.windows.end[k] = 0;
            }
            layer.x = padWith(c, layer.x, before, after, 0);
        }
    return writeGroups(c, layer, false);
}

// Axes whose windows have one element become parts of the batch: JAX sums over windows of all axes of a tensor.
V overFewerAxes(Call& c, Layer layer) {
    const Windows all = layer.windows;
    std::vector<int64_t> flat, kept;
    for (size_t i = 0; i < all.axes; ++i) {
        const bool single = all.kernel[i] == 1 && all.strides[i] == 1 && all.begin[i] == 0 && all.end[i] == 0;
        (single ? flat : kept).push_back(static_cast<int64_t>(i));
    }
    if (kept.empty()) {
        kept.push_back(flat.back());
        flat.pop_back();
    }
    if (kept.size() > 3) refuse("it has %zu spatial axes with windows; there are forms for 1, 2 and 3", kept.size());
    std::vector<int64_t> order{0}, kernel{layer.weight->extent(0), layer.weight->extent(1)};
    for (const int64_t axis : flat) order.push_back(axis + 2);
    const auto batches = static_cast<int64_t>(order.size());
    order.push_back(1);
    for (const int64_t axis : kept) order.push_back(axis + 2);
    Windows& w = layer.windows;
    w.axes = kept.size();
    const auto keep = [&](std::vector<int64_t>& list, const std::vector<int64_t>& from) {
        list.clear();
        for (const int64_t axis : kept) list.push_back(from[static_cast<size_t>(axis)]);
    };
    keep(w.kernel, all.kernel);
    keep(w.strides, all.strides);
    keep(w.dilations, all.dilations);
    keep(w.begin, all.begin);
    keep(w.end, all.end);
    kernel.insert(kernel.end(), w.kernel.begin(), w.kernel.end());
    V x = permute(c, layer.x, order);
    layer.x = reshapeTo(c, x, concat(c, {c.b.ints({-1}), shapeOf(c, x, batches)}, 0));
    layer.weight = reshape(c, layer.weight, kernel);
    V y = convolved(c, layer);
    y = reshapeTo(c, y, concat(c, {shapeOf(c, x, 0, batches), shapeOf(c, y, 1)}, 0));
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return permute(c, y, back);
}

void emitConv(Call& c) {
    const Layer layer = readLayer(c, false);
    c.out(layer.windows.axes > 3 ? overFewerAxes(c, layer) : convolved(c, layer));
}

void emitConvTranspose(Call& c) {
    Layer layer = readLayer(c, true);
    layer.in = layer.weight->extent(0);
    layer.out = checkedMul(layer.weight->extent(1), layer.group, "channels");
    requireChannels(layer);
    Windows& w = layer.windows;
    layer.outPads = windowNumbers(c, "output_padding", w.axes, 0, 0);
    const std::string mode = c.text("auto_pad", "NOTSET");
    std::optional<std::vector<int64_t>> wanted = c.integers("output_shape");
    if (wanted) {
        const bool whole = wanted->size() == w.axes + 2;
        wanted = windowNumbers(c, "output_shape", w.axes + (whole ? 2 : 0), 0, 0);
        if (whole) wanted->erase(wanted->begin(), wanted->begin() + 2);
    }
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (wanted || same)
        for (size_t i = 0; i < w.axes; ++i) {
            // total: the sum of the cropping at both ends; with SAME it does not depend on the extent.
            const int64_t total =
                wanted ? w.strides[i] * (layer.x->extent(i + 2) - 1) + layer.outPads[i] + w.reach(i) - (*wanted)[i]
                       : w.reach(i) - w.strides[i] + layer.outPads[i];
            const int64_t cut = std::max<int64_t>(total, 0);
            w.begin[i] = mode == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
            w.end[i] = cut - w.begin[i];
            if (total < 0) layer.outPads[i] -= total;
        }
    c.out(writeGroups(c, layer, true));
}

// The convolution of other inputs with the attributes of the node.
V convolve(Call& c, V x, V weight, V bias) {
    Call inner{c.importer, c.b, c.node, c.opset, {x, weight, bias}, std::vector<V>(1)};
    emitConv(inner);
    return inner.outputs[0];
}

// Codes minus their zero point, as floats. rows: one number for each output channel.
V centred(Call& c, V x, V zero, bool rows) {
    V y = castTo(c, x, Elem::Float);
    if (!zero) return y;
    V point = castTo(c, zero, Elem::Float);
    if (point->rank() == 1 && point->elementCount() == 1) point = reshape(c, point, {});
    if (rows && point->rank() == 1) point = unsqueeze(c, point, allAxes(x->rank(), 1));
    return sub(c, y, point);
}

void emitConvInteger(Call& c) {
    V result = convolve(c, centred(c, c.in(0), c.maybe(2), false), centred(c, c.in(1), c.maybe(3), true), nullptr);
    // Convolutions by Winograd's algorithm do not give whole numbers.
    c.out(castTo(c, unary(c, Unary::ROUND, result), Elem::Int32));
}

void emitQLinearConv(Call& c) {
    V x = c.raw(0), w = c.raw(3), weightScale = castTo(c, c.in(4), Elem::Float);
    if (!x || !w) fail(Status::BadFormat, "the codes of an input are missing");
    V bias = c.maybe(8);
    if (bias) {
        // The result is in steps of both scales.
        V both = mul(c, castTo(c, c.in(1), Elem::Float), weightScale);
        bias = mul(c, castTo(c, bias, Elem::Float), both);
    }
    V y = convolve(c, realOf(c, x, c.in(1), c.maybe(2), 1), realOf(c, w, weightScale, c.maybe(5), 0), bias);
    c.out(quantised(c, y, castTo(c, c.in(6), Elem::Float), c.in(7), c.in(7)->elem, false));
}

void emitFusedConv(Call& c) {
    V y = convolve(c, c.in(0), c.in(1), c.maybe(2));
    if (V other = c.maybe(3)) y = add(c, y, other);
    const std::string activation = c.text("activation", "");
    const std::vector<float> parameters = c.reals("activation_params");
    if (activation == "Relu") {
        y = c.b.op(OpType::ReLU, wire::ReluT(), {y});
    } else if (activation == "LeakyRelu") {
        y = leakyRelu(c, y, parameters.at(0));
    } else if (activation == "Clip") {
        y = clip(c, y, parameters.at(0), parameters.at(1));
    } else if (activation == "Sigmoid") {
        y = unary(c, Unary::SIGMOID, y);
    } else if (activation == "Tanh") {
        y = unary(c, Unary::TANH, y);
    } else if (activation == "HardSigmoid") {
        y = add(c, mul(c, y, c.b.real(parameters.at(0))), c.b.real(parameters.at(1)));
        y = clip(c, y, 0, 1);
    } else if (!activation.empty()) {
        refuse("the activation %s is not implemented", activation.c_str());
    }
    c.out(y);
}

}  // namespace

constexpr Entry kConvolutionsEntries[] = {
    {"Conv", 1, kNewest, emitConv, "Convolution, ConvolutionDepthwise, Convolution3D",
     "Weights that are fed in three axes; windows over more than three axes; SAME_LOWER padding over a free extent "
     "with a stride above 2, or of 2 and an even window."},
    {"ConvInteger", 10, kNewest, emitConvInteger, "Cast, BinaryOp, Convolution, UnaryOp",
     "Exact below 2^24 for windows of one element; others may be off by 1e-5 of the largest sum."},
    {"ConvTranspose", 1, kNewest, emitConvTranspose, "Deconvolution, DeconvolutionDepthwise, ConvTranspose3D",
     "As Conv; output_shape over a free extent."},
    {"FusedConv", 1, kNewest, emitFusedConv, "Convolution and its activation", "As Conv.", kMicrosoft},
    {"QLinearConv", 10, kNewest, emitQLinearConv, "Convolution, ConvolutionDepthwise",
     "With three spatial axes it computes with floats."},
};
extern constinit const Family convolutionFamily = kConvolutionsEntries;

}  // namespace mnnc::onnx
