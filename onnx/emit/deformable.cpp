// Convolutions whose windows have a position for each of their elements (Dai et al., arXiv 1703.06211).
#include "../importer.h"
#include "base/checked.h"
#include "base/error.h"
#include "windows.h"

namespace mnnc::onnx {
namespace {

// The positions 0, step, 2 * step and so on of an axis of the result, minus the padding.
V starts(Call& c, V offset, int64_t axis, int64_t step, int64_t pad) {
    V numbers = castTo(c, rangeTo(c, extentOf(c, offset, axis)), Elem::Float);
    return sub(c, mul(c, numbers, c.b.real(static_cast<float>(step))), c.b.real(static_cast<float>(pad)));
}

// Positions p in pixels become those of GridSample without align_corners, which are -1 and 1 at the borders of the
// picture: (2 p + 1) / extent - 1.
V inGrid(Call& c, V position, V x, int64_t axis) {
    V extent = castTo(c, extentOf(c, x, axis), Elem::Float);
    V odd = add(c, mul(c, position, c.b.real(2)), c.b.real(1));
    return sub(c, div(c, odd, extent), c.b.real(1));
}

// All elements of all windows are sampled at once. They lie along an axis of their own, over which a convolution sums.
void emitDeformConv(Call& c) {
    V x = c.in(0), weights = c.in(1), offset = c.in(2), bias = c.maybe(3), mask = c.maybe(4);
    if (x->rank() != 4 || weights->rank() != 4 || offset->rank() != 4) refuse("it has other than two spatial axes");
    const int64_t channels = checkedMul(weights->extent(1), c.integer("group", 1), "channels"),
                  outputs = weights->extent(0), height = weights->extent(2), width = weights->extent(3),
                  groups = c.integer("offset_group", 1);
    const int64_t kernel = checkedMul(height, width, "a kernel");
    constexpr int64_t kMaxKernel = 4096;
    if (groups < 1 || groups > channels || channels % groups != 0 || kernel < 1 || kernel > kMaxKernel)
        fail(Status::BadFormat,
             "%lld channels do not divide into %lld groups, or the kernel has %lld elements (1 to 4096 are possible)",
             asLong(channels), asLong(groups), asLong(kernel));
    if (x->fixed(1) && x->dims[0][1] != channels)
        fail(Status::BadFormat, "the input has %lld channels, the weights have %lld", asLong(x->dims[0][1]),
             asLong(channels));
    const Windows windows = readWindows(c, *x, {height, width});
    if (windows.same) refuse("it has auto_pad over free extents, which is not implemented");
    if (windows.kernel != std::vector<int64_t>{height, width})
        fail(Status::BadFormat, "kernel_shape is not that of the weights");
    // [batch * groups, kernel, 2, points]
    V moved = reshape(c, reshape(c, offset, {0, groups, kernel * 2, -1}), {-1, kernel, 2, 0});
    const auto sampled = [&](int64_t part, V start, int64_t step, int64_t axis) {
        std::vector<float> taps;
        for (int64_t i = 0; i < kernel; ++i)
            taps.push_back(static_cast<float>(axis == 2 ? i / width : i % width) * static_cast<float>(step));
        V own = elementOf(c, moved, 2, part);
        V all = add(c, start, c.b.constant(floatArray({1, kernel, 1}, std::move(taps)), Elem::Float));
        return unsqueeze(c, inGrid(c, add(c, own, all), x, axis), {3});
    };
    V plane = shapeOf(c, offset, 2, 4);
    V rows = unsqueeze(c, starts(c, offset, 2, windows.strides[0], windows.begin[0]), {1});
    rows = reshape(c, broadcastTo(c, rows, plane), {1, 1, -1});
    V columns =
        reshape(c, broadcastTo(c, starts(c, offset, 3, windows.strides[1], windows.begin[1]), plane), {1, 1, -1});
    V grid = concat(c, {sampled(1, columns, windows.dilations[1], 3), sampled(0, rows, windows.dilations[0], 2)}, 3);
    wire::GridSampleT table;
    table.paddingMode = wire::BorderMode::ZEROS;
    V parts = reshape(c, x, {-1, channels / groups, 0, 0});
    V samples = fromPacked(c, c.b.op(OpType::GridSample, table, {toPacked(c, parts), grid}));
    if (mask) samples = mul(c, samples, reshape(c, reshape(c, mask, {0, groups, kernel, -1}), {-1, 1, 0, 0}));
    samples = reshape(c, samples, {-1, channels, 0, 0});
    V flat = reshape(c, weights, {outputs, weights->extent(1), kernel, 1});
    Node node;
    addAttribute(node, "group").i = c.integer("group", 1);
    V sums = byRule(c, "Conv", node, {samples, flat, bias});
    c.out(reshapeTo(c, sums, concat(c, {shapeOf(c, offset, 0, 1), c.b.ints({outputs}), plane}, 0)));
}

}  // namespace

constexpr Entry kDeformableEntries[] = {
    {"DeformConv", 19, kNewest, emitDeformConv, "GridSample, BinaryOp, Convolution",
     "Other than two spatial axes; weights whose extents are free."},
};
extern constinit const Family deformableFamily = kDeformableEntries;

}  // namespace mnnc::onnx
