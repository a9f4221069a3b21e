// The pass fold-padding: an average over a map that a Raster surrounded with zeros becomes one that counts its own
// padding. Converters write a Raster where ONNX's count_include_pad is set.
#include <algorithm>
#include <limits>
#include <optional>

#include "ops/pooling.h"
#include "plan/passes.h"
#include "tensor/region_builder.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

struct Border {
    int64_t top, left, bottom, right;
};

bool isSame(const Region& a, const Region& b) {
    const auto alike = [](const View& v, const View& w) {
        return v.offset == w.offset && std::equal(v.stride, v.stride + 3, w.stride);
    };
    return alike(a.src, b.src) && alike(a.dst, b.dst) && std::equal(a.size, a.size + 3, b.size);
}

// Returns the number of zeros that a Raster adds on each side of a plane; empty where it does something else.
std::optional<Border> borderOf(const Command& raster) {
    if (raster.type != OpType::Raster || raster.inputs.size() != 1 || raster.regions.size() != 1) return {};
    const Operand &from = *raster.inputs[0], &to = *raster.outputs[0];
    const Shape &in = from.shape, &out = to.shape;
    if (in.rank() != 4 || out.rank() != 4 || in[0] != out[0] || in[1] != out[1] || from.format == Format::NHWC ||
        to.format == Format::NHWC || from.type != to.type || from.empty() || out[2] < in[2] || out[3] < in[3])
        return {};
    if (from.type == DataType::Int8 && !from.quant.sameStep(to.quant)) return {};
    const int64_t first = raster.regions[0].dst.offset, top = first / out[3], left = first % out[3];
    const Border border{top, left, out[2] - in[2] - top, out[3] - in[3] - left};
    if (border.bottom < 0 || border.right < 0) return {};
    const Strides src = rowMajorStrides(in), dst = rowMajorStrides(out);
    std::vector<BoxAxis> axes;
    for (int i = 0; i < 4; ++i) {
        const auto at = static_cast<size_t>(i);
        axes.push_back({in[i], src[at], dst[at]});
    }
    RegionBuilder builder(raster.name.c_str());
    builder.box(0, 0, first, axes);
    const std::vector<Region> regions = builder.take();
    if (regions.size() != 1 || !isSame(regions[0], raster.regions[0])) return {};
    return border;
}

bool averagesWithoutPadding(const Command& command) {
    const auto* pool = command.type == OpType::Pooling ? command.paramsIf<PoolParams>() : nullptr;
    if (!pool || !pool->average || pool->global || pool->padType == PoolPad::Same || command.inputs.size() != 1 ||
        command.outputs.size() != 1 || command.inputs[0]->format == Format::NHWC)
        return false;
    const auto isZero = [](int value) { return value == 0; };
    return std::all_of(pool->pad.begin(), pool->pad.end(), isZero) &&
           std::all_of(pool->pads.begin(), pool->pads.end(), isZero);
}

// Returns the parameters of the average over `map`; null where its outputs would differ from those over the larger map.
std::shared_ptr<PoolParams> withBorder(const Command& pooling, const Border& border, const Shape& map) {
    auto params = std::make_shared<PoolParams>(pooling.paramsAs<PoolParams>());
    params->ceil = params->ceil && params->padType == PoolPad::Explicit;
    params->padType = PoolPad::Explicit;
    params->count = PoolCount::IncludePadding;
    params->countsCodes = true;
    params->pads.clear();
    for (const int64_t side : {border.top, border.left, border.bottom, border.right}) {
        if (side > std::numeric_limits<int>::max()) return nullptr;
        params->pads.push_back(static_cast<int>(side));
    }
    const PoolWindow before =
                         poolWindow(pooling.paramsAs<PoolParams>(), pooling.inputs[0]->shape, pooling.name.c_str()),
                     after = poolWindow(*params, map, pooling.name.c_str());
    for (int i = 0; i < 3; ++i)
        if (before.axis[i].out != after.axis[i].out) return nullptr;
    return params;
}

void fold(CommandGraph& graph, Id pooling) {
    std::vector<Id> passed;
    Operand* operand = graph.command(pooling).inputs[0];
    for (;;) {
        const Id id = graph.exclusiveProducer(operand, passed.empty() ? pooling : passed.back());
        if (id == CommandGraph::kNone || graph.isControl(id)) return;
        passed.push_back(id);
        const Command& raster = graph.command(id);
        if (const std::optional<Border> border = borderOf(raster)) {
            const std::shared_ptr<PoolParams> params =
                withBorder(graph.command(pooling), *border, raster.inputs[0]->shape);
            if (!params) return;
            Command folded = graph.command(pooling);
            folded.inputs = {raster.inputs[0]};
            folded.params = params;
            graph.replace(pooling, std::move(folded));
            for (const Id each : passed) graph.erase(each, pooling);
            return;
        }
        if (raster.type != OpType::Raster || raster.inputs.size() != 1 ||
            !isIdentity(raster.regions, operand->elements()) || !(raster.inputs[0]->shape == operand->shape))
            return;
        operand = raster.inputs[0];
    }
}

}  // namespace

void foldPadding(CommandGraph& graph, const PlanContext&) {
    for (const Id id : graph.ids())
        if (graph.contains(id) && !graph.isControl(id) && averagesWithoutPadding(graph.command(id))) fold(graph, id);
}

}  // namespace mnnc
