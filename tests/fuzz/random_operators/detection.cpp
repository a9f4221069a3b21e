// Boxes and regions, sampling, recurrences, and operators over several related tensors.
#include "random_operators/draft.h"

namespace fuzz {

using enum wire::OpType;

namespace {

std::unique_ptr<wire::BlobT> blob(const Dims& dims, std::vector<float> values) {
    auto made = std::make_unique<wire::BlobT>();
    made->dims = dims;
    made->float32s = std::move(values);
    return made;
}

std::unique_ptr<wire::BlobT> blob(Draft& d, const Dims& dims) {
    int64_t count = 1;
    for (const int32_t extent : dims) count *= extent;
    return blob(dims, d.reals(count));
}

// The numbers of pictures, which are few.
Operand zeros(Draft& d, int count) {
    return d.ints({count}, std::vector<double>(static_cast<size_t>(count)));
}

// Rows with the number of a picture and a box.
Operand regions(Draft& d, int count) {
    Operand rows = d.weights({count, 5});
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 5; ++k) rows.values.push_back(k == 0 ? 0 : d.number(-1, 5) + (k > 2 ? 2 : 0));
    return rows;
}

void settleDetectionOutput(Draft& d, wire::DetectionOutputT& table) {
    const int boxes = d.extent(), classes = d.number(1, 3);
    d.inputs = {d.floats({1, boxes * 4}), d.floats({1, boxes * classes}), d.floats({1, 2, boxes * 4, 1})};
    table.classCount = classes;
    table.shareLocation = 1;
    table.varianceEncodedTarget = 0;
    table.codeType = d.number(1, 3);
    table.keepTopK = d.number(-1, 5);
    table.nmsTopK = d.number(-1, 5);
    table.backgroundLable = d.number(-1, 1);
    table.nmsThresholdold = 0.5f;
}

void settleProposal(Draft& d, wire::ProposalT& table) {
    const int height = d.number(1, 4), width = d.number(1, 4);
    table.ratios = blob({1}, {1});
    table.scales = blob({2}, {1, 2});
    table.anchors.reset();
    table.featStride = table.baseSize = 4;
    table.preNmsTopN = d.number(0, 9);
    table.afterNmsTopN = d.number(1, 9);
    table.nmsThreshold = 0.5f;
    d.inputs = {d.floats({1, 4, height, width}), d.floats({1, 8, height, width}), d.floats({1, 3})};
}

void settleGru(Draft& d, wire::RNNParamT& table) {
    const int steps = d.extent(), batch = d.extent(), size = d.number(1, 6), units = d.number(1, 6);
    const int directions = table.isBidirectionalRNN ? 2 : 1;
    table.numUnits = units;
    d.inputs = {d.floats({steps, batch, size})};
    for (int i = 0; i < directions; ++i)
        d.inputs.insert(d.inputs.end(), {d.weights({size + units, 2 * units}), d.weights({2 * units}),
                                         d.weights({size + units, units}), d.weights({units}), d.weights({3 * units})});
    if (d.random.oneIn(2)) d.inputs.push_back(d.floats({directions, batch, units}));
    d.outputs = table.keepAllOutputs ? 1 + d.random.below(2) : 1;
}

void settleRecurrent(Draft& d) {
    const int steps = d.extent(), batch = d.extent(), size = d.number(1, 6), units = d.number(1, 6);
    const int directions = d.number(1, 2), gates = d.op.type == LSTM ? 4 : 1;
    d.inputs = {d.floats({steps, batch, size}), d.weights({directions, gates * units, size}),
                d.weights({directions, gates * units, units}), d.weights({directions, gates * units}),
                d.floats({directions, batch, units})};
    if (gates == 4) d.inputs.push_back(d.inputs.back());
    d.outputs = gates == 4 ? 3 : 2;
    if (auto* table = d.op.main.AsLSTM()) {
        table->outputCount = units;
        table->weightI.reset();
        table->weightH.reset();
        table->bias.reset();
    }
}

void settleLstmCell(Draft& d) {
    const int batch = d.extent(), size = d.number(1, 6), units = d.number(1, 6);
    const Operand state = d.floats({batch, units}), peephole = d.weights({units});
    d.inputs = {
        d.floats({batch, size}), state, state, d.weights({size + units, 4 * units}), peephole, peephole, peephole,
        d.weights({4 * units})};
    d.outputs = 7;
}

void settleAttention(Draft& d, wire::AttentionParamT* table) {
    const int batch = d.number(1, 2), heads = 2 * d.number(1, 2), size = d.number(1, 8);
    const Operand query = d.floats({batch, d.extent(), heads, size});
    const Operand key = d.floats({batch, d.extent(), d.random.oneIn(2) ? heads : 2, size});
    d.inputs = {query, key, key};
    if (d.random.oneIn(3)) d.inputs.push_back(d.floats({1, 1, query.dims[1], key.dims[1]}));
    if (!table) return;
    table->kv_cache = false;
    table->kv_shared_layer.clear();
    table->mhq_quant.clear();
    table->output_c4 = false;
    table->layer_index = table->kv_shared_layer_index = -1;
}

}  // namespace

void settleDetection(Draft& d) {
    auto& in = d.inputs;
    auto& main = d.op.main;
    switch (d.op.type) {
        case CropAndResize: {
            const int count = d.extent();
            in = {d.floats({d.number(1, 2), d.number(2, 6), d.number(2, 6), d.extent()}), d.floats({count, 4}),
                  zeros(d, count), d.list({d.number(1, 4), d.number(1, 4)})};
            break;
        }
        case ROIPooling:
        case ROIAlign: {
            const int count = d.extent();
            in = {d.floats({d.number(1, 2), d.extent(), d.number(2, 8), d.number(2, 8)})};
            if (d.random.oneIn(2) || d.op.type == ROIPooling)
                in.push_back(regions(d, count));
            else
                in.insert(in.end(), {d.floats({count, 4}), zeros(d, count)});
            if (auto* table = main.AsRoiParameters()) {
                table->pooledHeight = d.number(1, 4), table->pooledWidth = d.number(1, 4);
                table->spatialScale = d.random.oneIn(2) ? 1 : 0.5f;
                table->samplingRatio = d.number(-1, 3);
                table->outputGrad = false;
            }
            break;
        }
        case DetectionOutput:
            if (auto* table = main.AsDetectionOutput()) settleDetectionOutput(d, *table);
            break;
        case DetectionPostProcess: {
            const int boxes = d.number(1, 9);
            in = {d.floats({1, boxes, 4}), d.floats({1, boxes, 3}), d.weights({boxes, 4})};
            d.outputs = 4;
            if (auto* table = main.AsDetectionPostProcessParam()) {
                table->maxDetections = d.number(1, 6);
                table->maxClassesPerDetection = d.number(1, 2);
                table->detectionsPerClass = d.number(1, 6);
                table->numClasses = d.number(2, 3);
                table->iouThreshold = 0.5f;
                table->centerSizeEncoding = {10, 10, 5, 5};
            }
            break;
        }
        case Proposal:
            if (auto* table = main.AsProposal()) settleProposal(d, *table);
            break;
        case PriorBox:
            in = {d.floats({1, 2, d.number(1, 4), d.number(1, 4)}), d.floats({1, 3, d.number(8, 40), 16})};
            if (auto* table = main.AsPriorBox()) {
                table->minSizes = {4, 8};
                if (d.random.oneIn(2)) table->maxSizes = {8, 12};
                table->aspectRatios = {2};
                table->variances = {0.1f, 0.1f, 0.2f, 0.2f};
                table->imageWidth = table->imageHeight = table->stepWidth = table->stepHeight = 0;
            }
            break;
        case NonMaxSuppressionV2: {
            const int count = d.extent();
            in = {d.floats({count, 4}), d.floats({count}), d.scalar(d.number(-1, 9))};
            if (d.random.oneIn(2)) in.push_back(d.scalar(0.5, DT_FLOAT));
            if (in.size() == 4 && d.random.oneIn(2)) in.push_back(d.scalar(0, DT_FLOAT));
            break;
        }
        case GridSample: {
            const int batch = d.number(1, 2);
            if (d.random.oneIn(4))
                in = {d.floats({batch, d.extent(), 3, 4, 2}), d.floats({batch, 2, d.extent(), 3, 3})};
            else
                in = {d.floats({batch, d.extent(), 4, 5}), d.floats({batch, d.extent(), d.extent(), 2})};
            if (auto* table = main.AsGridSample(); table && !d.random.oneIn(9)) table->backward = false;
            break;
        }
        case CosineSimilarity:
            in = {d.floats(d.shape(2, 4)), {}, d.scalar(1)};
            in[1] = in[0];
            break;
        case SpatialProduct:
            in = {d.floats(d.shape(4, 4)), {}};
            in[1] = in[0];
            in[1].dims[1] = 1;
            break;
        case Stft: {
            const int frame = d.number(1, 8);
            in = {d.floats({d.number(1, 3), d.number(frame, 40)}), d.scalar(d.number(1, 4)), d.weights({frame})};
            break;
        }
        case Moments:
            in = {d.floats(d.shape(4, 4))};
            d.outputs = 2;
            if (auto* table = main.AsMomentsParam()) table->dim = {2, 3}, table->dType = DT_FLOAT;
            break;
        case Histogram:
            in = {d.floats(d.shape(1, 3))};
            break;
        case DynamicQuant:
            in = {d.floats(d.shape(1, 4))};
            d.outputs = 3;
            break;
        case Svd:
            d.outputs = 3;
            break;
        case SplitGeLU:
            in = {d.floats({d.number(1, 2), d.extent(), 2 * d.number(1, 5)})};
            break;
        case SeqLen2Spatial:
            in = {d.floats({1, 6, d.extent()}), d.floats(d.shape(4, 4)), d.scalar(2), d.scalar(3)};
            break;
        case Attention:
            settleAttention(d, main.AsAttentionParam());
            break;
        case FmhaV2: {
            const int heads = d.number(1, 3);
            in = {d.floats({d.number(1, 2), d.extent(), heads * 3 * d.number(1, 4)})};
            if (auto* table = main.AsFmhaV2Param()) table->heads = heads;
            break;
        }
        case Fmhca: {
            const int heads = d.number(1, 3), size = d.number(1, 4), batch = d.number(1, 2);
            in = {d.floats({batch, d.extent(), heads * size}), d.floats({batch, d.extent(), 2 * heads * size})};
            if (auto* table = main.AsFmhcaParam()) table->heads = heads;
            break;
        }
        case Dequantize:
            in = {{d.shape(1, 4), d.random.oneIn(2) ? DT_UINT8 : DT_INT8}};
            if (auto* table = main.AsDequantize()) {
                table->type = DT_UINT8;
                table->modelFormat = in.size() == 1 ? wire::ModeFormat::TFLITE : wire::ModeFormat::TENSORFLOW;
                if (d.random.oneIn(2)) {
                    table->modelFormat = wire::ModeFormat::TENSORFLOW;
                    in.insert(in.end(), {d.scalar(-1, DT_FLOAT), d.scalar(2, DT_FLOAT)});
                }
            }
            break;
        case RNNSequenceGRU:
            if (auto* table = main.AsRNNParam()) settleGru(d, *table);
            break;
        case RNN:
        case LSTM:
            settleRecurrent(d);
            break;
        case LSTMBlockCell:
            settleLstmCell(d);
            break;
        case ImageProcess:
            in = {{{1, d.number(2, 9), d.number(2, 9), d.number(1, 4)}, DT_UINT8}};
            break;
        case TrainableParam:
        case Const:
            if (auto* table = main.AsBlob()) *table = std::move(*blob(d, d.shape(0, 4)));
            break;
        case Input:
            if (auto* table = main.AsInput()) table->dims = d.shape(0, 6), table->dtype = DT_FLOAT;
            break;
        default:
            break;
    }
}

}  // namespace fuzz
