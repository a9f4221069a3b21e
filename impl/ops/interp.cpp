// Interp, Interp3D and Resize: parameters, shape rules, and the lowering to Interp commands. A batch or channel axis
// whose extent changes is folded into the plane of a helper tensor and resized there.
#include "ops/interp.h"

#include <cmath>
#include <limits>

#include "mnn_generated.h"
#include "ops/channel_first.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

CoordinateMode legacyMode(bool halfPixelCenters, bool alignCorners, ResizeType type) {
    if (halfPixelCenters && type != ResizeType::NearestFloor) return CoordinateMode::HalfPixels;
    return alignCorners ? CoordinateMode::AlignCorners : CoordinateMode::Asymmetric;
}

void checkScale(float scale, const char* name) {
    if (!std::isfinite(scale) || scale < 0)
        fail(Status::BadParameter, "%s: a scale is %g, it must be finite and not negative", name,
             static_cast<double>(scale));
}

ParamsPtr parseInterp(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Interp* table = op.main_as_Interp();
    if (!table) fail(Status::BadParameter, "%s: the resize parameters are missing", name);
    const int type = table->resizeType(), mode = static_cast<int>(table->ctm());
    if (type < 0 || type > 4) fail(Status::BadParameter, "%s: resizeType %d is unknown", name, type);
    const int sizes[3] = {table->outputDepth(), table->outputHeight(), table->outputWidth()};
    const float scales[3] = {table->depthScale(), table->heightScale(), table->widthScale()};
    const float offsets[3] = {table->depthOffset(), table->heightOffset(), table->widthOffset()};
    const bool mayBeLowered =
        context.graph && context.node.inputs.size() == 1 && sizes[0] == 0 && sizes[1] == 0 && sizes[2] == 0;
    const bool unknownMode = mode < 0 || mode > 6;
    if (unknownMode && !mayBeLowered) fail(Status::BadParameter, "%s: the coordinate mode %d is unknown", name, mode);
    // The converter writes 0 for an ONNX Upsample whose scales are an input, and loses its mode.
    if (type == 0) fail(Status::NotSupported, "the file does not say how to interpolate (resizeType is 0)");
    if (mode == 6 && !mayBeLowered)
        fail(Status::NotSupported, "tf_crop_and_resize needs a region, and the file does not hold it");
    if (!std::isfinite(table->cubicCoeffA()))
        fail(Status::BadParameter, "%s: a cubic coefficient of %g is not finite", name,
             static_cast<double>(table->cubicCoeffA()));
    auto p = std::make_shared<InterpParams>();
    p->cubicA = table->cubicCoeffA();
    p->type = static_cast<ResizeType>(type);
    p->mayBeLowered = mayBeLowered;
    if (mode == 0)
        p->mode = legacyMode(table->halfPixelCenters(), table->alignCorners(), p->type);
    else
        p->mode = unknownMode || mode == 6 ? CoordinateMode::NotSet : static_cast<CoordinateMode>(mode);
    for (int i = 0; i < 3; ++i) {
        if (sizes[i] < 0) fail(Status::BadParameter, "%s: an output extent of %d is negative", name, sizes[i]);
        // The lowered form of a plane has meaningless numbers for the depth.
        if (context.node.inputs.size() < 2 && !mayBeLowered) checkScale(scales[i], name);
        p->size[i] = sizes[i];
        p->scale[i] = scales[i];
        p->offset[i] = offsets[i];
    }
    return p;
}

ParamsPtr parseResize(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const wire::Resize* table = op.main_as_Resize();
    if (!table) fail(Status::BadParameter, "%s: the resize parameters are missing", name);
    auto p = std::make_shared<InterpParams>();
    p->legacy = true;
    p->scale[1] = table->yScale();
    p->scale[2] = table->xScale();
    checkScale(p->scale[1], name);
    checkScale(p->scale[2], name);
    return p;
}

int64_t scaled(int64_t extent, float scale, const char* name) {
    const float value = std::trunc(static_cast<float>(extent) * scale);
    if (!(value >= 0) || value > static_cast<float>(1 << 30))
        fail(Status::ComputeSizeError, "%s: %lld times a scale of %g is not a possible extent", name, asLong(extent),
             static_cast<double>(scale));
    return static_cast<int64_t>(value);
}

// The output of an operator: extents [n, c, spatial...], and in/out per axis for the coordinate modes.
struct Target {
    Shape in, out;
    double ratio[kMaxRank];
    bool lowered = false;  // the scales of the parameters are source / destination
};

// Returns the position in [n, c, spatial...] of an axis of a tensor in this format.
int channelFirstAxis(int axis, int rank, Format format) {
    if (format != Format::NHWC || axis == 0) return axis;
    return axis == rank - 1 ? 1 : axis + 1;
}

void applyList(const ShapeContext& context, Target& t) {
    const Tensor& list = context.in(1);
    const char* name = context.name();
    const int rank = t.in.rank();
    const int64_t count = list.elements();
    const bool isFloat = list.type == DataType::Float32;
    std::vector<int64_t> ints;
    std::span<const float> floats;
    if (isFloat)
        floats = context.floats(1);
    else
        ints = context.ints(1);
    if (count == rank) {
        for (int i = 0; i < rank; ++i) {
            const int axis = channelFirstAxis(i, rank, context.in(0).format);
            const auto at = static_cast<size_t>(i);
            if (!isFloat) {
                t.out[axis] = ints[at];
                continue;
            }
            const float scale = floats[at];
            if (!std::isfinite(scale) || scale <= 0)
                fail(Status::ComputeSizeError, "%s: a scale is %g, it must be finite and above 0", name,
                     static_cast<double>(scale));
            t.out[axis] = scaled(t.in[axis], scale, name);
            t.ratio[axis] = 1.0 / static_cast<double>(scale);
        }
        return;
    }
    if (count != 2 || rank > 4)
        fail(Status::ComputeSizeError, "%s: %lld sizes do not fit an input of rank %d", name, asLong(count), rank);
    for (int i = 0; i < 2 && 2 + i < rank; ++i) {
        const auto at = static_cast<size_t>(i);
        t.out[2 + i] = isFloat ? scaled(1, floats[at], name) : ints[at];
    }
}

// Spatial axis i uses field firstField + i; [n, c, h] has a height and no width.
int firstField(int rank) {
    return rank == 5 ? 0 : 1;
}

// Returns whether the scales of a static model, which describes the output, have the lowered form. They do not where
// the extents of the output are those of the input times the scales; only scales of 1 are the same in both forms.
bool isLowered(const ShapeContext& context, const Target& t) {
    const InterpParams& params = context.node.paramsAs<InterpParams>();
    if (!params.mayBeLowered || context.node.fixed.empty()) return false;
    const Shape& described = context.node.fixed[0].shape;
    if (described.rank() != t.in.rank()) return true;
    const int first = firstField(t.in.rank());
    for (int i = 2; i < t.in.rank(); ++i) {
        const float scale = params.scale[first + i - 2];
        const int axis = context.node.fixed[0].format == Format::NHWC ? i - 1 : i;
        if (!(std::trunc(static_cast<float>(t.in[i]) * scale) == static_cast<float>(described[axis]))) return true;
    }
    return params.mode == CoordinateMode::NotSet;
}

void applyDescription(const ShapeContext& context, Target& t) {
    const InterpParams& params = context.node.paramsAs<InterpParams>();
    const FixedOutput& fixed = context.node.fixed[0];
    const char* name = context.name();
    const int rank = t.in.rank();
    for (int i = 0; i < rank && fixed.shape.rank() == rank; ++i)
        t.out[channelFirstAxis(i, rank, fixed.format)] = fixed.shape[i];
    if (fixed.shape.rank() != rank || t.out[0] != t.in[0] || t.out[1] != t.in[1])
        fail(Status::ComputeSizeError, "%s: the static model describes the result of resizing %s as %s", name,
             t.in.text().c_str(), fixed.shape.text().c_str());
    const int first = firstField(rank);
    for (int i = first; i < first + rank - 2; ++i) {
        checkScale(params.scale[i], name);
        if (!std::isfinite(params.offset[i]))
            fail(Status::BadParameter, "%s: an offset of %g is not finite", name,
                 static_cast<double>(params.offset[i]));
    }
    t.lowered = true;
}

void applyFields(const InterpParams& params, Target& t, const char* name) {
    const int spatial = t.in.rank() - 2;
    const int first = firstField(t.in.rank());
    bool bySize = !params.legacy;
    for (int i = 0; i < spatial; ++i) bySize = bySize && params.size[first + i] > 0;
    for (int i = 0; i < spatial; ++i)
        t.out[2 + i] = bySize ? params.size[first + i] : scaled(t.in[2 + i], params.scale[first + i], name);
}

Target targetOf(const ShapeContext& context) {
    const InterpParams& params = context.node.paramsAs<InterpParams>();
    const char* name = context.name();
    Target t;
    t.in = t.out = channelFirstShape(context.in(0), name);
    const int rank = t.in.rank();
    if (rank > 5)
        fail(Status::ComputeSizeError, "%s: an input of rank 5 at most is needed, this one is %s", name,
             t.in.text().c_str());
    for (double& ratio : t.ratio) ratio = 0;  // 0: in / out
    if (context.inputCount() > 1 && !params.legacy)
        applyList(context, t);
    else if (isLowered(context, t))
        applyDescription(context, t);
    else
        applyFields(params, t, name);
    for (int i = 0; i < rank; ++i) {
        // At most 2^30 each, so that index arithmetic in 32 bits is safe; resizeLeading() checks the products. An empty
        // axis stays empty.
        const bool emptyAxis = t.in[i] == 0 && t.out[i] == 0;
        if (!emptyAxis && (t.in[i] < 1 || t.out[i] < 1 || t.in[i] > (1 << 30) || t.out[i] > (1 << 30)))
            fail(Status::ComputeSizeError, "%s: an input %s cannot be resized to %s", name, t.in.text().c_str(),
                 t.out.text().c_str());
        if (t.ratio[i] == 0 && t.out[i] > 0) t.ratio[i] = static_cast<double>(t.in[i]) / static_cast<double>(t.out[i]);
    }
    return t;
}

bool isIdentity(const AxisMap& map, int64_t in, int64_t out) {
    return in == out && map.a == 1.0 && map.b == 0.0;
}

void interpShape(const ShapeContext& context) {
    if (context.in(0).type != DataType::Float32)
        fail(Status::BadType, "%s: the input is %s, float32 is needed", context.name(),
             dataTypeName(context.in(0).type));
    context.set(0, shapeInFormat(targetOf(context).out, context.in(0).format));
}

void emitInterp(const OpContext& context, Tensor* output, Tensor* input, const std::shared_ptr<InterpCommand>& plan) {
    ValueCommand command;
    command.type = OpType::Interp;
    command.name = context.node.name;
    command.params = plan;
    command.inputs = {input};
    command.outputs = {output};
    context.geometry.emit(std::move(command));
}

// Resizes one leading axis: [outer, extent, inner] is the plane of a one-channel picture.
Tensor* resizeLeading(const OpContext& context, Tensor* x, int axis, int64_t extent, ResizeType type,
                      const AxisMap& map) {
    const Shape& in = x->shape;
    Shape out = in;
    out[axis] = extent;
    const int64_t outer = in.elements(0, axis), inner = in.elements(axis + 1, in.rank());
    if (inner > 1 << 30)
        fail(Status::ComputeSizeError, "%s: resizing axis %d of %s is not implemented", context.name(), axis,
             in.text().c_str());
    auto plan = std::make_shared<InterpCommand>();
    plan->type = type;
    plan->axis[1] = map;
    GeometryContext& g = context.geometry;
    Tensor* folded = g.temporary({outer, 1, in[axis], inner}, x->type, Format::NCHW);
    Tensor* resized = g.temporary({outer, 1, extent, inner}, x->type, Format::NCHW);
    Tensor* result = g.temporary(out, x->type, Format::NC4HW4);
    g.copyLinear(folded, x, context.node.name + "/fold");
    emitInterp(context, resized, folded, plan);
    g.copyLinear(result, resized, context.node.name + "/unfold");
    return result;
}

void interpGeometry(const OpContext& context) {
    const InterpParams& params = context.node.paramsAs<InterpParams>();
    const Target t = targetOf(context);
    const int rank = t.in.rank(), spatial = rank - 2;
    AxisMap maps[kMaxRank];
    for (int i = 0; i < rank; ++i)
        maps[i] = t.lowered && i >= 2 ? loweredAxis(params, firstField(rank) + i - 2, t.in[i], t.out[i])
                                      : mapAxis(params, t.in[i], t.out[i], t.ratio[i]);

    Tensor* x = channelFirstInput(context, context.inputs[0]);
    for (int axis = 0; axis < 2; ++axis)
        if (t.in[axis] != t.out[axis]) x = resizeLeading(context, x, axis, t.out[axis], params.type, maps[axis]);

    Tensor* output = context.outputs[0];
    Tensor* result = channelFirstOutput(context, output);
    bool identity = true;
    auto plan = std::make_shared<InterpCommand>();
    plan->type = params.type;
    for (int i = 0; i < spatial; ++i) {
        plan->axis[spatial == 3 ? i : i + 1] = maps[2 + i];
        identity = identity && isIdentity(maps[2 + i], t.in[2 + i], t.out[2 + i]);
    }
    if (identity)
        context.geometry.copyLinear(result, x, context.node.name);
    else
        emitInterp(context, result, x, plan);
    finishOutput(context, output, result);
}

uint32_t sizesInput(const Node& node) {
    return node.type != OpType::Resize ? contentOfInput1(node) : 0u;
}

double interpFlops(const ShapeContext& context) {
    const double elements = static_cast<double>(context.out(0).elements());
    const double corners = std::pow(2.0, context.out(0).shape.rank() - 2);
    switch (context.node.paramsAs<InterpParams>().type) {
        case ResizeType::Linear:
            return elements * corners;
        case ResizeType::Cubic:
            return elements * 4 * corners;
        case ResizeType::NearestFloor:
        case ResizeType::NearestRound:
            break;
    }
    return elements;
}

constexpr OpDef interpDef(OpType type, ParamsPtr (*parse)(const wire::Op&, const ParseContext&)) {
    return {.type = type,
            .parse = parse,
            .shape = interpShape,
            .geometry = interpGeometry,
            .valueInputs = sizesInput,
            .shapeOnlyInputs = contentOfInput1,
            .flops = interpFlops};
}

}  // namespace

constexpr OpDef kInterpOps[] = {
    interpDef(OpType::Interp, parseInterp),
    interpDef(OpType::Interp3D, parseInterp),
    interpDef(OpType::Resize, parseResize),
};
extern constinit const OpFamily interpOps = kInterpOps;

}  // namespace mnnc
