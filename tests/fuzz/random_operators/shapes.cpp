// Operands for operators that move elements, and for those that produce tensors from shapes and indices.
#include <numeric>

#include "random_operators/draft.h"

namespace fuzz {

using enum wire::OpType;

namespace {

int64_t elements(const Dims& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int> permutation(size_t rank, Random& random) {
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

// Returns a shape with the same number of elements.
Dims otherShape(Draft& d, const Dims& dims) {
    switch (d.random.below(4)) {
        case 0:
            return {-1};
        case 1: {
            Dims swapped = dims;
            if (swapped.size() > 1) std::swap(swapped.front(), swapped.back());
            return swapped;
        }
        case 2:
            return {1, static_cast<int32_t>(elements(dims)), 1};
        default:
            return dims.empty() ? Dims{-1} : Dims{dims[0], -1};
    }
}

void settleGather(Draft& d) {
    auto& in = d.inputs;
    Operand data = d.random.oneIn(4) ? d.ints(d.shape(1, 4)) : d.floats(d.shape(1, 4));
    const auto rank = data.dims.size();
    const int axis = d.axis(rank);
    if (auto* table = d.op.main.AsAxis()) table->axis = axis;
    if (auto* table = d.op.main.AsGather()) table->axis = axis;
    const auto indices = [&](Dims dims) {
        return d.random.oneIn(3) ? d.ints(std::move(dims), {-1, 0, 1}) : d.ints(std::move(dims));
    };
    switch (d.op.type) {
        case GatherND: {
            if (auto* table = d.op.main.AsAxis()) table->axis = 0;
            Dims dims = d.shape(0, 2);
            dims.push_back(d.number(1, static_cast<int>(rank)));
            in = {data, indices(dims)};
            break;
        }
        case GatherElements: {
            Dims dims = data.dims;
            dims[static_cast<size_t>(axis < 0 ? axis + static_cast<int>(rank) : axis)] = d.extent();
            in = {data, indices(dims), d.scalar(axis)};
            break;
        }
        default:
            in = {data, indices(d.shape(0, 2))};
            if (d.op.type == GatherV2 && d.random.oneIn(2)) in.push_back(d.scalar(axis));
    }
}

void settleScatter(Draft& d) {
    auto& in = d.inputs;
    const Dims dims = d.shape(1, 4);
    if (auto* table = d.op.main.AsBinaryOp(); table && !d.random.oneIn(6))
        table->opType = d.random.oneIn(2) ? wire::BinaryOpOperation::ADD : wire::BinaryOpOperation::MUL;
    if (d.op.type == ScatterElements) {
        const Dims at = d.random.oneIn(2) ? dims : Dims(dims.size(), 1);
        in = {d.floats(dims), d.ints(at), d.floats(at)};
        if (d.random.oneIn(2)) in.push_back(d.scalar(d.axis(dims.size())));
        return;
    }
    const int depth = d.number(1, static_cast<int>(dims.size()));
    const int count = d.extent();
    Dims updates = {count};
    updates.insert(updates.end(), dims.begin() + depth, dims.end());
    in = {d.ints({count, depth}), d.floats(updates), d.list(dims)};
    if (d.random.oneIn(2)) in.push_back(d.floats(dims));
}

void settleStridedSlice(Draft& d, wire::StridedSliceParamT* table) {
    const Dims dims = d.shape(1, 4);
    const auto count = static_cast<int32_t>(d.number(1, static_cast<int>(dims.size())));
    std::vector<int> begin, end, step, axes;
    for (int32_t i = 0; i < count; ++i) {
        begin.push_back(d.number(-2, 1));
        end.push_back(d.random.oneIn(4) ? INT32_MAX : d.number(-1, 5));
        step.push_back(d.random.oneIn(6) ? -1 : d.number(1, 2));
        axes.push_back(i);
    }
    d.inputs = {d.floats(dims), d.list(begin), d.list(end)};
    if (!table) return;
    table->T = DT_FLOAT;
    table->Index = DT_INT32;
    table->fromType = d.number(0, 1);
    if (d.random.oneIn(2)) table->newAxisMask = table->ellipsisMask = table->shrinkAxisMask = 0;
    if (table->fromType == 0)
        d.inputs.push_back(d.list(step));
    else
        d.inputs.insert(d.inputs.end(), {d.list(axes), d.list(step)});
}

}  // namespace

void settleShapes(Draft& d) {
    auto& in = d.inputs;
    switch (d.op.type) {
        case ArgMax:
        case ArgMin:
            in = {d.floats(d.shape(1, 5))};
            if (auto* table = d.op.main.AsArgMax()) {
                table->axis = d.axis(in[0].dims.size());
                table->topK = d.number(0, 1);
                table->outMaxVal = table->softmaxThreshold = 0;
            }
            break;
        case Concat:
        case Softmax:
        case Unpack:
        case CumProd:
            for (auto& input : in) input = in[0];
            if (in.empty() || in[0].dims.empty()) in = {d.floats(d.shape(1, 5))};
            if (auto* table = d.op.main.AsAxis()) table->axis = d.axis(in[0].dims.size());
            if (d.op.type == Unpack && in[0].dims.size() > 0) {
                in[0].dims[0] = d.number(1, 4);
                if (auto* table = d.op.main.AsAxis()) table->axis = 0;
                d.outputs = static_cast<size_t>(in[0].dims[0]);
            }
            break;
        case Pack:
            for (auto& input : in) input = in[0];
            break;
        case CumSum:
            in = {d.floats(d.shape(1, 5)), {}};
            in[1] = d.scalar(d.axis(in[0].dims.size()));
            break;
        case BatchToSpaceND:
        case SpaceToBatchND: {
            const int across = d.number(1, 3), down = d.number(1, 2);
            Dims dims = d.shape(4, 4);
            if (d.op.type == BatchToSpaceND)
                dims[0] = across * down * d.number(1, 2);
            else
                dims[2] = down * d.number(1, 3), dims[3] = across * d.number(1, 3);
            in = {d.floats(dims)};
            if (auto* table = d.op.main.AsSpaceBatch()) {
                table->blockShape = std::make_unique<wire::BlobT>();
                table->blockShape->dims = {2};
                table->blockShape->dataType = DT_INT32;
                table->blockShape->int32s = {down, across};
                table->padding = std::make_unique<wire::BlobT>();
                table->padding->dims = {2, 2};
                table->padding->dataType = DT_INT32;
                table->padding->int32s = {0, 0, 0, 0};
            } else {
                in.push_back(d.list({down, across}));
                in.push_back(d.ints({2, 2}, {0, 0, 0, 0}));
            }
            break;
        }
        case BroadcastTo: {
            Dims from = d.shape(0, 4), to = from;
            for (auto& extent : from)
                if (d.random.oneIn(3)) extent = 1;
            in = {d.floats(from), d.list(to)};
            if (auto* table = d.op.main.AsAxis(); table && !d.random.oneIn(4)) table->axis = 0;
            break;
        }
        case Cast:
        case CastLike:
        case Identity:
        case ZerosLike:
            break;
        case Crop:
            in = {d.floats({2, 3, 6, 7}), d.floats({2, 3, d.number(1, 5), d.number(1, 6)})};
            if (auto* table = d.op.main.AsCrop()) {
                table->axis = d.number(2, 3);
                table->offset = {d.number(0, 1)};
            }
            break;
        case DepthToSpace:
        case SpaceToDepth:
            in = {d.floats({d.extent(), 4 * d.number(1, 3), 2 * d.number(1, 3), 2 * d.number(1, 3)})};
            if (auto* table = d.op.main.AsDepthSpaceParam()) table->blockSize = d.number(1, 2);
            break;
        case Det:
        case Svd: {
            Dims dims = d.shape(1, 3);
            dims.push_back(dims.back());
            in = {d.floats(dims)};
            break;
        }
        case EyeLike:
            in = {d.floats(d.shape(2, 2))};
            if (d.random.oneIn(2)) in.push_back(d.scalar(d.number(-1, 1)));
            break;
        case ExpandDims:
        case Squeeze:
        case Unsqueeze:
            if (in.empty()) break;
            in.resize(1);
            if (d.op.type == Squeeze) in[0].dims.insert(in[0].dims.begin(), 1);
            if (auto* table = d.op.main.AsSqueezeParam(); table && !d.random.oneIn(3)) table->squeezeDims = {0};
            if (auto* table = d.op.main.AsExpandDims(); table && !d.random.oneIn(3)) table->axis = 0;
            if (d.random.oneIn(3)) in.push_back(d.list({0}));
            break;
        case Fill:
            in = {d.list(d.shape(0, 4)), d.scalar(2, d.random.oneIn(2) ? DT_FLOAT : DT_INT32)};
            break;
        case Flatten:
            if (auto* table = d.op.main.AsFlatten(); table && !in.empty())
                table->axis = static_cast<int>(d.random.below(in[0].dims.size() + 1)), table->endAxis = 0;
            break;
        case Gather:
        case GatherV2:
        case GatherND:
        case GatherElements:
            settleGather(d);
            break;
        case ScatterNd:
        case ScatterElements:
            settleScatter(d);
            break;
        case LinSpace:
            in = {d.scalar(0, DT_FLOAT), d.scalar(1, DT_FLOAT), d.scalar(d.extent())};
            break;
        case MatrixBandPart:
            in = {d.floats(d.shape(2, 4)), d.scalar(d.number(-1, 3)), d.scalar(d.number(-1, 3))};
            break;
        case OneHot:
            in = {d.ints(d.shape(0, 3)), d.scalar(d.extent()), d.scalar(1, DT_FLOAT), d.scalar(0, DT_FLOAT)};
            if (auto* table = d.op.main.AsOneHotParam())
                table->dType = DT_FLOAT, table->axis = d.axis(in[0].dims.size() + 1);
            break;
        case Padding: {
            in = {d.floats(d.shape(1, 4)), {}};
            std::vector<double> pads(2 * in[0].dims.size());
            for (double& pad : pads) pad = d.number(d.random.oneIn(20) ? -1 : 0, 1);
            in[1] = d.ints({static_cast<int32_t>(in[0].dims.size()), 2}, pads);
            if (d.random.oneIn(3)) in.push_back(d.scalar(1, DT_FLOAT));
            break;
        }
        case Permute:
            if (auto* table = d.op.main.AsPermute(); table && !in.empty())
                table->dims = permutation(in[0].dims.size(), d.random);
            break;
        case Transpose:
            in = {d.floats(d.shape(1, 5)), {}};
            in[1] = d.list(permutation(in[0].dims.size(), d.random));
            break;
        case RandomUniform:
        case RandomNormal:
            in = {d.list(d.shape(1, 4))};
            if (auto* table = d.op.main.AsRandomUniform()) table->type = DT_FLOAT;
            break;
        case Range: {
            const auto type = d.random.oneIn(2) ? DT_FLOAT : DT_INT32;
            in = {d.scalar(0, type), d.scalar(d.extent(), type), d.scalar(d.number(1, 2), type)};
            if (auto* table = d.op.main.AsRange()) table->Tidx = type;
            break;
        }
        case Reduction:
            if (auto* table = d.op.main.AsReductionParam(); table && !in.empty()) {
                in.resize(1);
                table->dim.clear();
                if (!in[0].dims.empty() && !d.random.oneIn(4)) table->dim = {d.axis(in[0].dims.size())};
                table->dType = in[0].type;
            }
            break;
        case Reshape:
        case QuantizedReshape: {
            in = {d.floats(d.shape(0, 5))};
            Dims to = otherShape(d, in[0].dims);
            if (auto* table = d.op.main.AsReshape(); table && !d.random.oneIn(3))
                table->dims = to;
            else if (auto* quantized = d.op.main.AsQuantizedReshape(); quantized && !d.random.oneIn(3))
                quantized->dims = to;
            else
                in.push_back(d.list(to));
            break;
        }
        case Reverse:
            in = {d.floats(d.shape(1, 5)), {}};
            in[1] = d.list({d.axis(in[0].dims.size())});
            break;
        case ReverseSequence:
            in = {d.floats({d.number(1, 4), 5, d.extent()}), {}};
            in[1] = d.ints({in[0].dims[0]});
            if (auto* table = d.op.main.AsReverseSequenceParam()) table->batchDim = 0, table->seqDim = 1;
            break;
        case Segment: {
            in = {d.floats(d.shape(1, 4)), {}};
            std::vector<double> ids;
            for (int i = 0; i < in[0].dims[0]; ++i) ids.push_back(i / 2);
            in[1] = d.ints({in[0].dims[0]}, ids);
            break;
        }
        case Select:
            in = {d.ints(d.shape(0, 4)), {}, {}};
            in[1] = d.floats(in[0].dims);
            in[2] = d.floats(d.random.oneIn(3) ? Dims{} : in[0].dims);
            break;
        case SetDiff1D:
            in = {d.ints(d.shape(1, 1)), d.ints(d.shape(1, 1))};
            break;
        case Shape:
        case Size:
        case Rank:
            break;
        case Slice:
            in = {d.floats({6, 6, 6})};
            d.outputs = static_cast<size_t>(d.number(1, 3));
            if (auto* table = d.op.main.AsSlice()) {
                table->axis = d.axis(3);
                table->sourceType = d.random.oneIn(2) ? wire::NetSource::TENSORFLOW : wire::NetSource::CAFFE;
                table->slicePoints.clear();
                if (table->sourceType == wire::NetSource::TENSORFLOW && d.random.oneIn(2))
                    table->slicePoints.assign(d.outputs, 6 / static_cast<int>(d.outputs));
                else
                    for (size_t i = 1; i < d.outputs; ++i) table->slicePoints.push_back(static_cast<int>(2 * i));
            }
            break;
        case SliceTf: {
            in = {d.floats(d.shape(1, 4)), {}, {}};
            std::vector<int> begin, size;
            for (const int32_t extent : in[0].dims) {
                begin.push_back(d.number(0, extent > 1 ? 1 : 0));
                size.push_back(d.random.oneIn(2) ? -1 : extent - begin.back());
            }
            in[1] = d.list(begin);
            in[2] = d.list(size);
            break;
        }
        case StridedSlice:
            settleStridedSlice(d, d.op.main.AsStridedSliceParam());
            break;
        case Tile: {
            in = {d.floats(d.shape(1, 4)), {}};
            std::vector<int> times;
            for (size_t i = 0; i < in[0].dims.size(); ++i) times.push_back(d.number(d.random.oneIn(9) ? 0 : 1, 3));
            in[1] = d.list(times);
            break;
        }
        case TopKV2:
            in = {d.floats(d.shape(1, 4)), d.scalar(d.number(0, 2))};
            if (d.random.oneIn(3)) in.push_back(d.scalar(d.axis(in[0].dims.size())));
            break;
        case UnravelIndex:
            in = {d.ints(d.shape(0, 2)), d.list({3, 4, 2})};
            break;
        case Where:
        case Unique:
            in = {d.random.oneIn(2) ? d.ints(d.shape(1, 4)) : d.floats(d.shape(1, 3))};
            break;
        default:
            break;
    }
}

}  // namespace fuzz
