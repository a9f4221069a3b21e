// 3-D convolutions that a converter wrote as 2-D ones become one operator.
//
// The converter writes a convolution as follows: Reshape, Im2Col along the depth, Reshape, Transpose, Reshape and
// Unpack produce an image for each tap in depth and output slice; a Convolution for each tap; their sum, which may be
// clipped; Reshape and Transpose. For a transposed convolution it writes Transpose and Reshape, a Deconvolution for
// each tap, then Pack, Reshape, Transpose, Reshape, Col2Im along the depth and Reshape. There only one tap has the
// bias, so the file's nodes do not add it to slices that this tap does not reach; the joined operator adds it
// everywhere. The extents of the Reshapes are computed from the shape of the input.
#include "net/net_rewrites.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "mnn_generated.h"
#include "net/rewrite_nodes.h"
#include "ops/activation.h"
#include "ops/binary.h"
#include "ops/convolution3d.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

using Nodes = RewriteNodes;

// Reads the depth of a window from Im2Col or Col2Im.
bool readDepth(const wire::Op& op, Conv3dParams& p) {
    const wire::Convolution2D* table = op.main_as_Convolution2D();
    if (!table || !table->common()) return false;
    const wire::Convolution2DCommon& c = *table->common();
    const auto* pads = c.pads();
    if (c.kernelX() != 1 || c.strideX() != 1 || c.padX() != 0 || c.padMode() != wire::PadMode::CAFFE ||
        (pads && pads->size() > 0 && (pads->size() < 4 || pads->Get(1) != 0 || pads->Get(3) != 0)))
        return false;
    const bool listed = pads && pads->size() >= 4;
    p.kernel[0] = c.kernelY(), p.stride[0] = c.strideY(), p.dilate[0] = c.dilateY();
    p.begin[0] = listed ? pads->Get(0) : c.padY();
    p.end[0] = listed ? pads->Get(2) : c.padY();
    return true;
}

// Adds a convolution to the taps; returns false where it cannot be a tap.
bool addTap(const Node* conv, bool transposed, Conv3dParams& p) {
    const OpType dense = transposed ? OpType::Deconvolution : OpType::Convolution;
    const OpType depthwise = transposed ? OpType::DeconvolutionDepthwise : OpType::ConvolutionDepthwise;
    if (!conv || !conv->def || (conv->type != dense && conv->type != depthwise) || conv->inputs.size() != 1)
        return false;
    const auto* tap = conv->paramsIf<ConvParams>();
    if (!tap || tap->padMode != ConvPad::Explicit || tap->pads.size() == 2 || tap->inputCount < 1 ||
        tap->outputCount < 1 || tap->hasOutputShape || (!p.depthTaps.empty() && !sameButWeights(*p.depthTaps[0], *tap)))
        return false;
    p.kernel[1] = tap->kernelY, p.kernel[2] = tap->kernelX;
    p.stride[1] = tap->strideY, p.stride[2] = tap->strideX;
    p.dilate[1] = tap->dilateY, p.dilate[2] = tap->dilateX;
    const bool listed = tap->pads.size() >= 4;
    for (size_t i = 0; i < 2; ++i) {
        const int even = i == 0 ? tap->padY : tap->padX;
        p.begin[i + 1] = listed ? tap->pads[i] : even;
        p.end[i + 1] = listed ? tap->pads[i + 2] : even;
        p.extra[i + 1] = tap->outPads.size() >= 2 ? tap->outPads[i] : 0;
    }
    p.outputCount = tap->outputCount;
    p.inputCount = conv->type == depthwise ? tap->outputCount : tap->inputCount;
    const int group = conv->type == depthwise ? tap->outputCount : tap->group;
    if (!p.depthTaps.empty() && group != p.group) return false;
    p.group = group;
    p.relu = tap->epilogue.lo == 0;
    p.relu6 = tap->epilogue.hi == 6;
    p.statesPads = true;
    p.transposed = transposed;
    p.model = p.depthTaps.empty() ? tap->model : p.model;
    if (tap->storedWeights < 0 || (p.storedWeights < 0 && !p.depthTaps.empty()))
        p.storedWeights = -1;
    else
        p.storedWeights = std::max<int64_t>(p.storedWeights, 0) + tap->storedWeights;
    p.depthTaps.push_back(std::static_pointer_cast<const ConvParams>(conv->params));
    return true;
}

// Returns the only consumer of the taps' sum where it is a ReLU or a ReLU6, which becomes part of the convolution, or
// null.
const Node* clipBehind(const Nodes& nodes, int sum, Conv3dParams& p) {
    const size_t consumer = nodes.onlyConsumer(sum);
    if (const Node* relu = nodes.ofType(consumer, OpType::ReLU)) {
        const auto* params = relu->paramsIf<ReluParams>();
        p.relu = params && params->slope == 0;
        return p.relu ? relu : nullptr;
    }
    const Node* clip = nodes.ofType(consumer, OpType::ReLU6);
    const auto* range = clip ? clip->paramsIf<ClipParams>() : nullptr;
    p.relu6 = range && range->lo == 0 && range->hi == 6;
    return p.relu6 ? clip : nullptr;
}

// Returns the node after an optional change of layout, which is added to `replaced`.
size_t behindConvert(const Nodes& nodes, size_t i, ReplacedNodes& replaced) {
    const Node* convert = nodes.plainConvert(i);
    if (!convert) return i;
    replaced.add(i);
    return nodes.onlyConsumer(convert->outputs[0]);
}

// Returns the producer of a tensor, before an optional change of layout, which is added to `replaced`.
size_t madeBefore(const Nodes& nodes, int id, ReplacedNodes& replaced) {
    const size_t i = nodes.producer(id);
    const Node* convert = nodes.plainConvert(i);
    if (!convert) return i;
    replaced.add(i);
    return nodes.producer(convert->inputs[0]);
}

// Extents that no constant of a file is likely to be.
struct VolumeProbe {
    int64_t n, d, h, w, depth, height, width;
};
constexpr VolumeProbe kVolumeProbes[] = {{1009, 1013, 1019, 1021, 1031, 1033, 1039},
                                         {1049, 1051, 1061, 1063, 1069, 1087, 1091}};

std::optional<Rewrite> convolutionAt(const Nodes& nodes, size_t im2col) {
    const Node* columns = nodes.ofType(im2col, OpType::Im2Col);
    auto params = std::make_shared<Conv3dParams>();
    if (!columns || !readDepth(nodes.op(im2col), *params)) return {};
    ReplacedNodes replaced(nodes);
    replaced.add(im2col);
    const size_t flatten = madeBefore(nodes, columns->inputs[0], replaced);
    const Node* flat = nodes.plainReshape(flatten);
    if (!flat) return {};
    const size_t split = nodes.onlyConsumer(columns->outputs[0]);
    const Node* taps = nodes.plainReshape(split);
    const size_t turn = taps ? nodes.onlyConsumer(taps->outputs[0]) : kNoNode;
    if (!nodes.isTranspose(turn, {0, 2, 1, 3, 4})) return {};
    const size_t images = nodes.onlyConsumer(nodes.node(turn)->outputs[0]);
    const Node* imagesNode = nodes.plainReshape(images);
    const size_t unpack = imagesNode ? nodes.onlyConsumer(imagesNode->outputs[0]) : kNoNode;
    const Node* unpacked = nodes.ofType(unpack, OpType::Unpack);
    const auto* axis = unpacked ? unpacked->paramsIf<AxisParams>() : nullptr;
    if (!axis || axis->axis != 2 || static_cast<int64_t>(unpacked->outputs.size()) != params->kernel[0]) return {};
    for (const size_t i : {flatten, split, turn, images, unpack}) replaced.add(i);

    int sum = -1;  // tensor id
    size_t summing = kNoNode;
    for (const int image : unpacked->outputs) {
        const size_t at = behindConvert(nodes, nodes.onlyConsumer(image), replaced);
        const Node* conv = nodes.node(at);
        if (!addTap(conv, false, *params)) return {};
        replaced.add(at);
        sum = conv->outputs[0];
        if (params->kernel[0] == 1) break;
        const size_t consumer = nodes.onlyConsumer(sum);
        if (consumer == kNoNode || (summing != kNoNode && consumer != summing)) return {};
        summing = consumer;
    }
    if (params->kernel[0] > 1) {
        const Node* added = nodes.ofType(summing, OpType::Eltwise);
        const auto* how = added ? added->paramsIf<EltwiseParams>() : nullptr;
        if (!how || how->code != kBinaryAdd || !how->coeff.empty() ||
            added->inputs.size() != unpacked->outputs.size() || params->relu || params->relu6)
            return {};
        replaced.add(summing);
        sum = added->outputs[0];
        if (const Node* clip = clipBehind(nodes, sum, *params)) {
            replaced.add(nodes.onlyConsumer(sum));
            sum = clip->outputs[0];
        }
    }
    size_t join = kNoNode;
    for (const size_t consumer : nodes.consumers(sum))
        if (nodes.plainReshape(consumer)) join = consumer;
    const Node* joined = nodes.plainReshape(join);
    const size_t last = joined ? nodes.onlyConsumer(joined->outputs[0]) : kNoNode;
    if (!nodes.isTranspose(last, {0, 2, 1, 3, 4})) return {};
    replaced.add(join);
    replaced.add(last);

    const int64_t kd = params->kernel[0], c = params->inputCount, oc = params->outputCount;
    for (const VolumeProbe& e : kVolumeProbes) {
        ExtentValues values(nodes);
        values.setShape(flat->inputs[0], {e.n, c, e.d, e.h, e.w});
        values.setShape(sum, {e.n * e.depth, oc, e.height, e.width});
        if (values(flat->inputs[1]) != List{1, e.n * c, e.d, e.h * e.w} ||
            values(taps->inputs[1]) != List{e.n, c * kd, -1, e.h, e.w} ||
            values(imagesNode->inputs[1]) != List{-1, c, kd, e.h, e.w} ||
            values(joined->inputs[1]) != List{e.n, -1, oc, e.height, e.width})
            return {};
    }
    Rewrite rewrite;
    rewrite.node = *nodes.node(last);
    rewrite.node.type = OpType::Convolution3D;
    rewrite.node.def = findOpDef(OpType::Convolution3D);
    rewrite.node.inputs = {flat->inputs[0]};
    rewrite.node.params = std::move(params);
    rewrite.place = last;
    if (!replaced.close(last, rewrite)) return {};
    return rewrite;
}

std::optional<Rewrite> transposedAt(const Nodes& nodes, size_t col2im) {
    const Node* image = nodes.ofType(col2im, OpType::Col2Im);
    auto params = std::make_shared<Conv3dParams>();
    if (!image || !readDepth(nodes.op(col2im), *params)) return {};
    ReplacedNodes replaced(nodes);
    replaced.add(col2im);
    const size_t columns = madeBefore(nodes, image->inputs[0], replaced);
    const Node* columnsNode = nodes.plainReshape(columns);
    const size_t turn = columnsNode ? nodes.producer(columnsNode->inputs[0]) : kNoNode;
    if (!nodes.isTranspose(turn, {1, 3, 0, 2, 4, 5})) return {};
    const size_t split = nodes.producer(nodes.node(turn)->inputs[0]);
    const Node* slices = nodes.plainReshape(split);
    const size_t pack = slices ? nodes.producer(slices->inputs[0]) : kNoNode;
    const Node* packed = nodes.ofType(pack, OpType::Pack);
    const auto* axis = packed ? packed->paramsIf<AxisParams>() : nullptr;
    if (!axis || axis->axis != 0 || static_cast<int64_t>(packed->inputs.size()) != params->kernel[0]) return {};
    for (const size_t i : {columns, turn, split, pack}) replaced.add(i);
    int from = -1;  // the tensor that all taps read
    for (const int output : packed->inputs) {
        const size_t at = nodes.producer(output);
        if (!addTap(nodes.node(at), true, *params)) return {};
        if (from >= 0 && nodes.node(at)->inputs[0] != from) return {};
        from = nodes.node(at)->inputs[0];
        replaced.add(at);
    }
    if (params->relu || params->relu6) return {};
    const size_t flatten = madeBefore(nodes, from, replaced);
    const Node* flat = nodes.plainReshape(flatten);
    const size_t first = flat ? nodes.producer(flat->inputs[0]) : kNoNode;
    const size_t last = nodes.onlyConsumer(image->outputs[0]);
    const Node* shaped = nodes.plainReshape(last);
    if (!nodes.isTranspose(first, {0, 2, 1, 3, 4}) || !shaped) return {};
    replaced.add(flatten);
    replaced.add(first);
    replaced.add(last);

    const int x = nodes.node(first)->inputs[0];
    const int64_t kd = params->kernel[0], c = params->inputCount, oc = params->outputCount;
    for (size_t i = 0; i < std::size(kVolumeProbes); ++i) {
        const VolumeProbe& e = kVolumeProbes[i];
        ExtentValues values(nodes);
        values.setShape(x, {e.n, c, e.d, e.h, e.w});
        for (const int output : packed->inputs) values.setShape(output, {e.n * e.d, oc, e.height, e.width});
        const std::optional<List> size = values(image->inputs[1]);
        if (!size || size->size() != 2 || (*size)[1] != e.height * e.width) return {};
        const int64_t plain =
            (e.d - 1) * params->stride[0] + (kd - 1) * params->dilate[0] + 1 - params->begin[0] - params->end[0];
        constexpr int64_t kMaxExtra = 1 << 20;
        const int64_t extra = (*size)[0] - plain;
        if (std::abs(extra) > kMaxExtra || (i > 0 && extra != params->extra[0]) ||
            values(flat->inputs[1]) != List{-1, c, e.h, e.w} ||
            values(slices->inputs[1]) != List{kd, e.n, -1, oc, e.height, e.width} ||
            values(columnsNode->inputs[1]) != List{e.n, oc * kd, -1} ||
            values(shaped->inputs[1]) != List{e.n, oc, -1, e.height, e.width})
            return {};
        params->extra[0] = static_cast<int>(extra);
    }
    Rewrite rewrite;
    rewrite.node = *shaped;
    rewrite.node.type = OpType::ConvTranspose3D;
    rewrite.node.def = findOpDef(OpType::ConvTranspose3D);
    rewrite.node.inputs = {x};
    rewrite.node.params = std::move(params);
    rewrite.place = last;
    if (!replaced.close(last, rewrite)) return {};
    return rewrite;
}

// Adds a rewrite and removes those of nodes that it replaces.
void take(NetGraph& graph, Rewrite rewrite) {
    const auto replaces = [&](const Rewrite& old) {
        return std::find(rewrite.replaced.begin(), rewrite.replaced.end(), old.place) != rewrite.replaced.end();
    };
    for (const Rewrite& old : graph.rewrites) {
        if (!replaces(old)) continue;
        rewrite.replaced.insert(rewrite.replaced.end(), old.replaced.begin(), old.replaced.end());
        rewrite.hidden.insert(rewrite.hidden.end(), old.hidden.begin(), old.hidden.end());
    }
    std::erase_if(graph.rewrites, replaces);
    graph.rewrites.push_back(std::move(rewrite));
}

}  // namespace

void rewriteConvolutions3d(NetGraph& graph) {
    // Int8 scales belong to the parts, not to the whole.
    if (!graph.quants.empty()) return;
    const auto written = [](const Node& node) { return node.type == OpType::Im2Col || node.type == OpType::Col2Im; };
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), written)) return;
    std::vector<Rewrite> found;
    {
        const Nodes nodes(graph);
        for (size_t i = 0; i < nodes.size(); ++i)
            for (const auto& match : {convolutionAt, transposedAt}) {
                nodes.beginMatch();
                if (std::optional<Rewrite> rewrite = match(nodes, i)) {
                    nodes.keepMatch();
                    found.push_back(std::move(*rewrite));
                }
            }
    }
    std::vector<bool> taken(graph.nodes.size(), false);
    for (Rewrite& rewrite : found) {
        std::vector<size_t> nodes = rewrite.replaced;
        nodes.push_back(rewrite.place);
        if (std::any_of(nodes.begin(), nodes.end(), [&](size_t i) { return taken[i]; })) continue;
        for (const size_t i : nodes) taken[i] = true;
        take(graph, std::move(rewrite));
    }
}

}  // namespace mnnc
