// DepthToSpace, SpaceToDepth, SpaceToBatchND, BatchToSpaceND become one strided box, or one for each block position.
#include <algorithm>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

struct DepthParams : ParamsOf<DepthParams> {
    int64_t block = 1;
    bool crd = false;
};

ParamsPtr parseDepth(const wire::Op& op, const ParseContext& context) {
    const wire::DepthSpaceParam* table = op.main_as_DepthSpaceParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no DepthSpaceParam table", context.node.name.c_str());
    auto params = std::make_shared<DepthParams>();
    params->block = table->blockSize();
    params->crd = table->mode() == wire::DepthToSpaceMode::CRD;
    if (params->block <= 0 || params->block > 32767)
        fail(Status::BadParameter, "op '%s': the block size is %d, 1 to 32767 are possible", context.node.name.c_str(),
             table->blockSize());
    return params;
}

// Axis numbers of a rank-4 tensor.
struct Axes {
    int channel, height, width;
    explicit Axes(Format format) : channel(1), height(2), width(3) {
        if (format == Format::NHWC) channel = 3, height = 1, width = 2;
    }
};

void shapeDepth(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const int64_t block = context.node.paramsAs<DepthParams>().block;
    const Axes axes(context.in(0).format);
    const bool toSpace = context.node.type == OpType::DepthToSpace;
    const bool fits =
        shape.rank() == 4 && (toSpace ? shape[axes.channel] % (block * block) == 0
                                      : shape[axes.height] % block == 0 && shape[axes.width] % block == 0);
    if (!fits)
        fail(Status::ComputeSizeError, "op '%s': blocks of %lld do not fit a tensor of shape %s", context.name(),
             asLong(block), shape.text().c_str());
    const auto grow = [&](int axis, int64_t factor) { shape[axis] = checkedMul(shape[axis], factor, context.name()); };
    if (toSpace) {
        shape[axes.channel] /= block * block;
        grow(axes.height, block);
        grow(axes.width, block);
    } else {
        grow(axes.channel, block * block);
        shape[axes.height] /= block;
        shape[axes.width] /= block;
    }
    context.set(0, shape);
}

void geometryDepth(const OpContext& context) {
    const auto* params = &context.node.paramsAs<DepthParams>();
    const bool toSpace = context.node.type == OpType::DepthToSpace;
    const Axes at(context.in(0).format);
    const Shape& space = toSpace ? context.out(0).shape : context.in(0).shape;
    const Shape& depth = toSpace ? context.in(0).shape : context.out(0).shape;
    const Strides s = rowMajorStrides(space), d = rowMajorStrides(depth);
    const auto c = static_cast<size_t>(at.channel), h = static_cast<size_t>(at.height),
               w = static_cast<size_t>(at.width);
    const int64_t block = params->block, channels = space[at.channel];
    // Depth channel k = (i*b + j)*C + c (DCR) or c*b*b + i*b + j (CRD).
    const int64_t stepC = params->crd ? block * block : 1;
    const int64_t stepJ = params->crd ? 1 : channels;
    std::vector<BoxAxis> axes = {{space[0], d[0], s[0]},
                                 {channels, stepC * d[c], s[c]},
                                 {depth[at.height], d[h], block * s[h]},
                                 {block, stepJ * block * d[c], s[h]},
                                 {depth[at.width], d[w], block * s[w]},
                                 {block, stepJ * d[c], s[w]}};
    if (at.channel == 3) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());  // channel innermost
    if (!toSpace)
        for (BoxAxis& axis : axes) std::swap(axis.src, axis.dst);
    RegionBuilder builder(context.name());
    builder.box(0, 0, 0, axes);
    context.geometry.raster(context.outputs[0], {context.inputs[0]}, builder.take(), context.node.name);
}

struct BatchParams : ParamsOf<BatchParams> {
    bool given = false;  // block and pads come from the table
    std::vector<int64_t> block, pads;
};

ParamsPtr parseBatch(const wire::Op& op, const ParseContext& context) {
    auto params = std::make_shared<BatchParams>();
    if (context.node.inputs.size() >= 3) return params;
    const wire::SpaceBatch* table = op.main_as_SpaceBatch();
    if (context.node.inputs.size() != 1 || !table || !table->blockShape() || !table->blockShape()->int32s() ||
        !table->padding() || !table->padding()->int32s())
        fail(Status::BadParameter, "op '%s' has neither three inputs nor a SpaceBatch table",
             context.node.name.c_str());
    params->given = true;
    params->block.assign(table->blockShape()->int32s()->begin(), table->blockShape()->int32s()->end());
    params->pads.assign(table->padding()->int32s()->begin(), table->padding()->int32s()->end());
    return params;
}

// Blocks and paddings or crops of the two spatial axes; the second block is 1 where the file has only one.
struct BatchPlan {
    int first = 1, axes = 1;  // first spatial axis, number of blocked axes
    int64_t block[2] = {1, 1}, before[2] = {0, 0}, after[2] = {0, 0};
};

BatchPlan batchPlan(const ShapeContext& context) {
    const auto* params = &context.node.paramsAs<BatchParams>();
    const std::vector<int64_t> block = params->given ? params->block : context.ints(1);
    const std::vector<int64_t> pads = params->given ? params->pads : context.ints(2);
    BatchPlan plan;
    plan.first = context.in(0).format == Format::NHWC ? 1 : 2;
    const size_t m = block.size();
    if (m < 1 || m > 2 || pads.size() < 2 * m || plan.first + static_cast<int>(m) > context.in(0).shape.rank())
        fail(Status::ComputeSizeError, "op '%s': %zu blocks and %zu paddings do not fit a tensor of shape %s",
             context.name(), m, pads.size(), context.in(0).shape.text().c_str());
    plan.axes = static_cast<int>(m);
    for (size_t i = 0; i < m; ++i) {
        plan.block[i] = block[i];
        plan.before[i] = pads[2 * i];
        plan.after[i] = pads[2 * i + 1];
        if (block[i] <= 0 || plan.before[i] < 0 || plan.after[i] < 0)
            fail(Status::ComputeSizeError,
                 "op '%s' has a block of %lld and paddings of %lld and %lld, a block above 0 and no negative paddings "
                 "are needed",
                 context.name(), asLong(block[i]), asLong(plan.before[i]), asLong(plan.after[i]));
    }
    return plan;
}

void shapeBatch(const ShapeContext& context) {
    const BatchPlan plan = batchPlan(context);
    const bool toBatch = context.node.type == OpType::SpaceToBatchND;
    const int64_t blocks = checkedMul(plan.block[0], plan.block[1], context.name());
    Shape shape = context.in(0).shape;
    if (toBatch) {
        shape[0] = checkedMul(shape[0], blocks, context.name());
    } else {
        if (shape[0] % blocks != 0)
            fail(Status::ComputeSizeError, "op '%s': a batch of %lld does not divide into %lld blocks", context.name(),
                 asLong(shape[0]), asLong(blocks));
        shape[0] /= blocks;
    }
    for (int i = 0; i < plan.axes; ++i) {
        int64_t& extent = shape[plan.first + i];
        if (toBatch)
            extent = (extent + plan.before[i] + plan.after[i]) / plan.block[i];
        else
            extent = checkedMul(extent, plan.block[i], context.name()) - plan.before[i] - plan.after[i];
        if (extent < 0)
            fail(Status::ComputeSizeError, "op '%s': the crops leave nothing of axis %d of %s", context.name(),
                 plan.first + i, context.in(0).shape.text().c_str());
    }
    shape.elements();
    context.set(0, shape);
}

// Small side: the blocked tensor [blocks*N, ...]; large side: the image [N, ...]. For block position (i, j), blocked
// element y is image element y*block + i - before, as far as that exists.
void geometryBatch(const OpContext& context) {
    const BatchPlan plan = batchPlan(context);
    const bool toBatch = context.node.type == OpType::SpaceToBatchND;
    const Shape& image = toBatch ? context.in(0).shape : context.out(0).shape;
    const Shape& blocked = toBatch ? context.out(0).shape : context.in(0).shape;
    const Strides is = rowMajorStrides(image), bs = rowMajorStrides(blocked);
    RegionBuilder builder(context.name());
    if (checkedMul(plan.block[0], plan.block[1], context.name()) > RegionBuilder::kMaxRegions)
        fail(Status::LimitExceeded, "op '%s' has %lld x %lld block positions, the limit is %lld", context.name(),
             asLong(plan.block[0]), asLong(plan.block[1]), asLong(RegionBuilder::kMaxRegions));
    for (int64_t i = 0; i < plan.block[0]; ++i)
        for (int64_t j = 0; j < plan.block[1]; ++j) {
            const int64_t position[2] = {i, j};
            int64_t imageOffset = 0, blockedOffset = (i * plan.block[1] + j) * image[0] * bs[0];
            std::vector<BoxAxis> axes;
            for (int axis = 0; axis < image.rank(); ++axis) {
                const auto at = static_cast<size_t>(axis);
                const int k = axis - plan.first;
                if (k < 0 || k >= plan.axes) {
                    axes.push_back({image[axis], is[at], bs[at]});
                    continue;
                }
                const int64_t shift = position[k] - plan.before[k], block = plan.block[k];
                const int64_t first = shift < 0 ? ceilDiv(-shift, block) : 0;
                const int64_t end =
                    std::min(blocked[axis], image[axis] > shift ? ceilDiv(image[axis] - shift, block) : 0);
                imageOffset += (first * block + shift) * is[at];
                blockedOffset += first * bs[at];
                axes.push_back({end - first, block * is[at], bs[at]});
            }
            if (!toBatch)
                for (BoxAxis& axis : axes) std::swap(axis.src, axis.dst);
            builder.box(0, toBatch ? imageOffset : blockedOffset, toBatch ? blockedOffset : imageOffset, axes);
        }
    context.geometry.raster(context.outputs[0], {context.inputs[0]}, builder.take(), context.node.name);
}

uint32_t contentBatch(const Node& node) {
    return hasInput(node, 2) ? 6u : 0u;
}

}  // namespace

constexpr OpDef kSpaceOps[] = {
    {.type = OpType::DepthToSpace, .parse = parseDepth, .shape = shapeDepth, .geometry = geometryDepth},
    {.type = OpType::SpaceToDepth, .parse = parseDepth, .shape = shapeDepth, .geometry = geometryDepth},
    {.type = OpType::SpaceToBatchND,
     .parse = parseBatch,
     .shape = shapeBatch,
     .geometry = geometryBatch,
     .valueInputs = contentBatch},
    {.type = OpType::BatchToSpaceND,
     .parse = parseBatch,
     .shape = shapeBatch,
     .geometry = geometryBatch,
     .valueInputs = contentBatch},
};
extern constinit const OpFamily spaceOps = kSpaceOps;

}  // namespace mnnc
