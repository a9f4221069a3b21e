// Operators that move elements or only rename axes.
#include <algorithm>

#include "../importer.h"
#include "base/error.h"
#include "windows.h"

namespace mnnc::onnx {
namespace {

// Axes that are an attribute up to opset 12 and an input from 13 on. Empty: only a run knows them.
std::optional<std::vector<int64_t>> axesIn(Call& c, V& fed) {
    fed = nullptr;
    c.refuseAttributes({"axes"}, 13);
    if (c.opset < 13) return c.integers("axes");
    V given = c.maybe(1);
    if (!given) return std::nullopt;
    if (given->constant) return given->array().list();
    fed = given;
    return std::nullopt;
}

// Squeeze without axes removes all axes with an extent of 1. A free axis is removed where the rank that the file
// declares for the result, or for an output of the net, requires it: exporters declare the ranks of the run that they
// traced.
void squeezeOnes(Call& c, V x) {
    std::vector<int64_t> ones, open;
    for (size_t i = 0; i < x->rank(); ++i) {
        if (!x->fixed(i)) open.push_back(static_cast<int64_t>(i));
        if (x->fixed(i) && x->dims[0][i] == 1) ones.push_back(static_cast<int64_t>(i));
    }
    if (open.empty()) return c.out(c.b.alias(squeeze(c, x, ones), x->elem));
    std::array<Dims, kProbes> declared;
    const size_t kept = x->rank() - ones.size();
    const bool known = c.b.declared && c.b.declared(0, declared);
    Reading& reading = c.importer.reading();
    if (known ? kept - open.size() == declared[0].size() : reading.dropsFreeAxes) {
        ones.insert(ones.end(), open.begin(), open.end());
        std::sort(ones.begin(), ones.end());
        Output result;
        result.type = x->type;
        for (size_t p = 0; p < kProbes; ++p)
            for (size_t i = 0; i < x->rank(); ++i)
                if (x->fixed(i) && x->dims[0][i] != 1) result.dims[p].push_back(x->dims[p][i]);
        wire::SqueezeParamT table;
        table.squeezeDims = intList(ones)->ints;
        c.importer.note("The Squeeze '" + c.b.name() +
                        "' drops free axes, as ranks in the file need it: the net is valid where they are 1 alone.");
        return c.out(c.b.alias(c.b.given(OpType::Squeeze, table, {x}, {result})[0], x->elem));
    }
    reading.keptFreeAxes = reading.keptFreeAxes || !known;
    if (!known || kept != declared[0].size())
        c.importer.note("The Squeeze '" + c.b.name() +
                        "' keeps free axes: the net is not valid where they are 1. Give their extents then.");
    c.out(c.b.alias(squeeze(c, x, ones), x->elem));
}

void emitSqueeze(Call& c) {
    V x = c.in(0), fed = nullptr;
    std::optional<std::vector<int64_t>> axes = axesIn(c, fed);
    if (fed) {
        c.b.openRank(x->rank() - static_cast<size_t>(fed->elementCount()));
        c.out(c.b.alias(c.b.op(OpType::Squeeze, wire::SqueezeParamT(), {x, fed}), x->elem));
        return;
    }
    if (!axes) return squeezeOnes(c, x);
    c.out(c.b.alias(squeeze(c, x, axesOf(*axes, x->rank())), x->elem));
}

void emitUnsqueeze(Call& c) {
    V x = c.in(0), fed = nullptr;
    const std::optional<std::vector<int64_t>> axes = axesIn(c, fed);
    if (fed) {
        c.b.openRank(x->rank() + static_cast<size_t>(fed->elementCount()));
        c.out(c.b.alias(c.b.op(OpType::Unsqueeze, wire::SqueezeParamT(), {x, fed}), x->elem));
        return;
    }
    if (!axes) fail(Status::BadFormat, "the axes are missing");
    c.out(c.b.alias(unsqueeze(c, x, axesOf(*axes, x->rank() + axes->size())), x->elem));
}

void emitReshape(Call& c) {
    V x = c.in(0);
    if (c.opset < 5) {
        c.out(c.b.alias(reshape(c, x, c.integers("shape").value_or(std::vector<int64_t>())), x->elem));
        return;
    }
    c.refuseAttributes({"shape"}, 5);
    V dims = c.in(1);
    if (c.integer("allowzero", 0) != 0 && dims->constant) {
        const std::vector<int64_t> list = dims->array().list();
        if (std::find(list.begin(), list.end(), 0) != list.end()) {
            // It has no elements, so it is a constant.
            auto empty = std::make_shared<Array>();
            empty->type = x->type;
            empty->dims = list;
            for (const int64_t extent : list)
                if (extent < 0) fail(Status::BadFormat, "its shape has both -1 and 0");
            if (x->allFixed() && x->elementCount() != 0)
                fail(Status::ComputeSizeError, "the elements of %s do not fit a shape of no elements",
                     dimsText(x->dims[0]).c_str());
            if (!x->allFixed())
                c.importer.note("The Reshape '" + c.b.name() + "' is valid for an input without elements alone.");
            c.out(c.b.constant(empty, x->elem));
            return;
        }
    }
    c.out(c.b.alias(reshapeTo(c, x, dims), x->elem));
}

void emitFlatten(Call& c) {
    V x = c.in(0);
    int64_t axis = c.integer("axis", 1);
    if (axis < 0) axis += static_cast<int64_t>(x->rank());
    if (axis < 0 || axis > static_cast<int64_t>(x->rank()))
        fail(Status::BadRange, "axis %lld does not exist in a tensor of rank %zu", asLong(axis), x->rank());
    wire::FlattenT table;
    table.axis = static_cast<int32_t>(axis);
    c.out(c.b.op(OpType::Flatten, table, {x}));
}

void emitTranspose(Call& c) {
    V x = c.in(0);
    std::vector<int64_t> order = c.integers("perm").value_or(std::vector<int64_t>());
    if (order.empty()) {
        order = allAxes(x->rank());
        std::reverse(order.begin(), order.end());
    }
    std::vector<int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != allAxes(x->rank()))
        fail(Status::BadFormat, "perm is %s, which is no order of the axes of a tensor of rank %zu",
             dimsText(order).c_str(), x->rank());
    c.out(permute(c, x, order));
}

void emitConcat(Call& c) {
    std::vector<V> parts;
    for (size_t i = 0; i < c.inputs.size(); ++i) parts.push_back(c.in(i));
    if (parts.empty()) fail(Status::BadFormat, "it has no inputs");
    const int64_t axis = axisOf(c.integer("axis", c.opset < 4 ? 1 : 0), parts[0]->rank());
    c.out(c.b.alias(concat(c, parts, axis), parts[0]->elem));
}

void emitExpand(Call& c) {
    V x = c.in(0), dims = c.in(1);
    if (dims->constant && dims->elementCount() <= static_cast<int64_t>(x->rank())) {
        const std::vector<int64_t> list = dims->array().list();
        if (std::all_of(list.begin(), list.end(), [](int64_t d) { return d == 1; })) {
            c.out(x);
            return;
        }
    }
    c.out(c.b.alias(broadcastTo(c, x, dims), x->elem));
}

void emitTile(Call& c) {
    V x = c.in(0), times = c.in(1);
    if (c.opset < 6) {
        std::vector<int64_t> list(x->rank(), 1);
        list.at(static_cast<size_t>(axisOf(c.list(2).at(0), x->rank()))) = c.list(1).at(0);
        times = c.b.ints(list);
    }
    if (!times->constant) c.b.openRank(x->rank());
    c.out(c.b.alias(c.b.op(OpType::Tile, {}, {x, times}), x->elem));
}

template <OpType type>
void emitDepthSpace(Call& c) {
    wire::DepthSpaceParamT table;
    table.blockSize = narrow(c.integer("blocksize", 0));
    const std::string mode = c.text("mode", "DCR");
    if (mode != "CRD" && mode != "DCR") fail(Status::BadFormat, "the mode '%s' is unknown", mode.c_str());
    table.mode = mode == "CRD" ? wire::DepthToSpaceMode::CRD : wire::DepthToSpaceMode::DCR;
    c.out(c.b.op(type, table, {c.in(0)}));
}

void emitReverseSequence(Call& c) {
    wire::ReverseSequenceParamT table;
    table.batchDim = narrow(c.integer("batch_axis", 1));
    table.seqDim = narrow(c.integer("time_axis", 0));
    c.out(c.b.op(OpType::ReverseSequence, table, {c.in(0), c.in(1)}));
}

}  // namespace

constexpr Entry kReshapeEntries[] = {
    {"Concat", 1, kNewest, emitConcat, "Concat"},
    {"DepthToSpace", 1, kNewest, emitDepthSpace<OpType::DepthToSpace>, "DepthToSpace"},
    {"Expand", 8, kNewest, emitExpand, "BroadcastTo"},
    {"Flatten", 1, kNewest, emitFlatten, "Flatten"},
    {"Reshape", 1, kNewest, emitReshape, "Reshape", "allowzero with a shape that is fed counts a 0 as a copy."},
    {"ReverseSequence", 10, kNewest, emitReverseSequence, "ReverseSequence"},
    {"SpaceToDepth", 1, kNewest, emitDepthSpace<OpType::SpaceToDepth>, "SpaceToDepth"},
    {"Squeeze", 1, kNewest, emitSqueeze, "Squeeze",
     "Without axes: a free extent counts as other than 1, or as 1 where the rank that the file declares needs it."},
    {"Tile", 1, kNewest, emitTile, "Tile"},
    {"Transpose", 1, kNewest, emitTranspose, "Permute"},
    {"Unsqueeze", 1, kNewest, emitUnsqueeze, "Unsqueeze"},
};
extern constinit const Family reshapeFamily = kReshapeEntries;

}  // namespace mnnc::onnx
