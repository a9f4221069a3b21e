// Padding in all modes becomes boxes: every axis is divided into at most three segments (before, centre, after), and
// the output consists of the products of the segments. Negative pads crop.
#include <algorithm>

#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"
#include "tensor/region_builder.h"

namespace mnnc {

namespace {

using wire::PadValueMode;

struct PaddingParams : ParamsOf<PaddingParams> {
    PadValueMode mode = PadValueMode::CONSTANT;
};

struct Segment {
    int64_t out, size, in, step;  // output start, length, input start, input step
};

ParamsPtr parsePadding(const wire::Op& op, const ParseContext& context) {
    auto params = std::make_shared<PaddingParams>();
    if (const wire::PadParam* table = op.main_as_PadParam()) params->mode = table->mode();
    if (params->mode < PadValueMode::CONSTANT || params->mode > PadValueMode::EDGE)
        fail(Status::BadParameter, "op '%s': padding mode %d is not known", context.node.name.c_str(),
             static_cast<int>(params->mode));
    return params;
}

std::vector<int64_t> padsOf(const ShapeContext& context) {
    std::vector<int64_t> pads = context.ints(1);
    const auto needed = 2 * static_cast<size_t>(context.in(0).shape.rank());
    if (pads.size() < needed)
        fail(Status::ComputeSizeError, "op '%s' has %zu pads for a tensor of rank %d, two for each axis are needed",
             context.name(), pads.size(), context.in(0).shape.rank());
    pads.resize(needed);
    return pads;
}

void shapePadding(const ShapeContext& context) {
    Shape shape = context.in(0).shape;
    const std::vector<int64_t> pads = padsOf(context);
    for (int i = 0; i < shape.rank(); ++i) {
        const auto at = 2 * static_cast<size_t>(i);
        shape[i] += pads[at] + pads[at + 1];
        if (shape[i] < 0)
            fail(Status::ComputeSizeError, "op '%s': pads %lld and %lld leave nothing of axis %d of %s", context.name(),
                 asLong(pads[at]), asLong(pads[at + 1]), i, context.in(0).shape.text().c_str());
    }
    shape.elements();
    if (context.inputCount() > 2 && context.node.paramsAs<PaddingParams>().mode == PadValueMode::CONSTANT) {
        requireSameWidth(context, 0, 2);
        if (context.in(2).empty()) fail(Status::ComputeSizeError, "op '%s': the fill value is empty", context.name());
    }
    context.set(0, shape);
}

Segment centreOf(int64_t extent, int64_t before, int64_t after) {
    const int64_t start = std::max<int64_t>(before, 0);
    return {start, extent + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0), std::max<int64_t>(-before, 0),
            1};
}

// Pads beyond the reach of a mirror stay 0.
std::vector<Segment> segmentsOf(PadValueMode mode, int64_t extent, int64_t before, int64_t after) {
    std::vector<Segment> segments;
    if (extent == 0) return segments;
    const Segment centre = centreOf(extent, before, after);
    if (centre.size > 0) segments.push_back(centre);
    const int64_t behind = before + extent;  // the start of the trailing border
    if (mode == PadValueMode::EDGE) {
        if (before > 0) segments.push_back({0, std::min(before, before + extent + after), 0, 0});
        if (after > 0)
            segments.push_back({std::max<int64_t>(behind, 0), after + std::min<int64_t>(behind, 0), extent - 1, 0});
    } else if (mode != PadValueMode::CONSTANT) {
        const int64_t skip = mode == PadValueMode::REFLECT ? 1 : 0;  // whether the border itself is repeated
        const int64_t left = std::min(before, extent - skip), right = std::min(after, extent - skip);
        if (left > 0) {
            // Output before-left .. before-1 mirrors down to the border; a cropped end may shorten it.
            const int64_t size = std::min(left, behind + after - (before - left));
            segments.push_back({before - left, size, left - 1 + skip, -1});
        }
        if (right > 0) {
            const int64_t cut = std::max<int64_t>(-behind, 0);
            segments.push_back({behind + cut, right - cut, extent - 1 - skip - cut, -1});
        }
    }
    return segments;
}

bool knownZero(const Tensor& value) {
    if (!value.hasConstantValue || value.usage != Usage::Constant || !value.values) return false;
    const auto* bytes = value.known<uint8_t>();
    return std::all_of(bytes, bytes + elementBytes(value.type), [](uint8_t byte) { return byte == 0; });
}

// Adds the border of a constant padding, cut so that no element is written twice: the border around axis i covers the
// centres of the axes before it and the whole axes after it.
void borderBoxes(RegionBuilder& builder, int input, const Shape& out, const Strides& dst,
                 const std::vector<Segment>& centres) {
    for (size_t i = 0; i < centres.size(); ++i) {
        const int64_t tail = centres[i].out + std::max<int64_t>(centres[i].size, 0);
        for (const auto& [start, size] :
             {std::pair{int64_t{0}, centres[i].out}, std::pair{tail, out[static_cast<int>(i)] - tail}}) {
            int64_t offset = start * dst[i];
            std::vector<BoxAxis> axes;
            for (size_t k = 0; k < centres.size(); ++k) {
                if (k < i) offset += centres[k].out * dst[k];
                axes.push_back({k < i ? centres[k].size : k == i ? size : out[static_cast<int>(k)], 0, dst[k]});
            }
            builder.box(input, 0, offset, axes);
        }
    }
}

void geometryPadding(const OpContext& context) {
    const PadValueMode mode = context.node.paramsAs<PaddingParams>().mode;
    const Shape &in = context.in(0).shape, &out = context.out(0).shape;
    const std::vector<int64_t> pads = padsOf(context);
    const Strides src = rowMajorStrides(in), dst = rowMajorStrides(out);
    const auto rank = static_cast<size_t>(in.rank());
    std::vector<std::vector<Segment>> segments;
    std::vector<Segment> centres;
    for (size_t i = 0; i < rank; ++i) {
        const int64_t extent = in[static_cast<int>(i)];
        segments.push_back(segmentsOf(mode, extent, pads[2 * i], pads[2 * i + 1]));
        centres.push_back(centreOf(extent, pads[2 * i], pads[2 * i + 1]));
        Segment& centre = centres.back();
        centre.out = std::min(centre.out, out[static_cast<int>(i)]);
        centre.size = std::max<int64_t>(centre.size, 0);
    }
    RegionBuilder builder(context.name());
    // Counts through all choices of one segment per axis.
    std::vector<size_t> pick(rank, 0);
    bool more = std::none_of(segments.begin(), segments.end(), [](const auto& list) { return list.empty(); });
    while (more) {
        int64_t from = 0, to = 0;
        std::vector<BoxAxis> axes;
        for (size_t i = 0; i < rank; ++i) {
            const Segment& segment = segments[i][pick[i]];
            from += segment.in * src[i];
            to += segment.out * dst[i];
            axes.push_back({segment.size, segment.step * src[i], dst[i]});
        }
        builder.box(0, from, to, axes);
        size_t i = rank;
        while (i > 0 && ++pick[i - 1] == segments[i - 1].size()) pick[--i] = 0;
        more = i > 0;
    }
    std::vector<Tensor*> inputs = {context.inputs[0]};
    if (mode == PadValueMode::CONSTANT && context.inputCount() > 2 && !knownZero(context.in(2))) {
        inputs.push_back(context.inputs[2]);
        borderBoxes(builder, 1, out, dst, centres);
    }
    context.geometry.raster(context.outputs[0], std::move(inputs), builder.take(), context.node.name);
}

}  // namespace

constexpr OpDef kPaddingOps[] = {
    {.type = OpType::Padding,
     .parse = parsePadding,
     .shape = shapePadding,
     .geometry = geometryPadding,
     .valueInputs = contentOfInput1},
};
extern constinit const OpFamily paddingOps = kPaddingOps;

}  // namespace mnnc
