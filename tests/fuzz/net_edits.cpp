// Changes a random operator, tensor or parameter, such that the net mostly stays one that loads.
#include "net_edits.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace fuzz {

namespace {

namespace wire = mnnc::wire;
using Ops = std::vector<std::unique_ptr<wire::OpT>>;
using Names = std::vector<std::string>;

// One space of tensor indices in a net.
struct GraphRef {
    Ops& ops;
    Names& names;
};

std::unique_ptr<wire::OpT> copyOf(const wire::OpT& op) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(wire::Op::Pack(builder, &op));
    return std::unique_ptr<wire::OpT>(flatbuffers::GetRoot<wire::Op>(builder.GetBufferPointer())->UnPack());
}

void moveParameters(wire::OpT& to, std::unique_ptr<wire::OpT> from) {
    std::swap(to.main.type, from->main.type);
    std::swap(to.main.value, from->main.value);
}

GraphRef graphOf(wire::NetT& net, Random& random) {
    if (!net.subgraphs.empty() && random.oneIn(2)) {
        wire::SubGraphProtoT& body = *random.pick(net.subgraphs);
        return {body.nodes, body.tensors};
    }
    return {net.oplists, net.tensorName};
}

int32_t anyTensor(const GraphRef& graph, Random& random) {
    if (random.oneIn(64)) return static_cast<int32_t>(random.number());
    return static_cast<int32_t>(random.below(graph.names.size()));
}

// Returns a tensor that an operator before `position` produces, mostly.
int32_t tensorBefore(const GraphRef& graph, size_t position, Random& random) {
    for (int attempt = 0; attempt < 8 && position > 0; ++attempt) {
        const wire::OpT& maker = *graph.ops[random.below(position)];
        if (!maker.outputIndexes.empty()) return random.pick(maker.outputIndexes);
    }
    return anyTensor(graph, random);
}

wire::OpType anyType(Random& random) {
    if (random.oneIn(32)) return static_cast<wire::OpType>(random.number());
    return random.pick(wire::EnumValuesOpType());
}

template <typename T>
void editVector(std::vector<T>& values, Random& random, size_t maxSize = 4096) {
    switch (random.below(4)) {
        case 0:
            if (!values.empty()) values.pop_back();
            break;
        case 1:
            if (values.size() < maxSize) values.push_back(values.empty() ? T{1} : random.pick(values));
            break;
        case 2:
            values.resize(random.below(std::min(maxSize, values.size() * 2 + 4)), T{1});
            break;
        default:
            if (!values.empty()) random.pick(values) = static_cast<T>(random.number());
    }
}

void editBlob(wire::BlobT& blob, Random& random) {
    switch (random.below(5)) {
        case 0:
            blob.dataType = random.pick(wire::EnumValuesDataType());
            break;
        case 1:
            editVector(blob.dims, random, 12);
            break;
        case 2: {  // as many values as the shape has elements
            int64_t count = 1;
            for (const int32_t dim : blob.dims) count = dim < 0 || count > 4096 ? 0 : count * dim;
            count = std::clamp<int64_t>(count, 0, 4096);
            blob.float32s.resize(static_cast<size_t>(count), 1.0f);
            blob.int32s.resize(static_cast<size_t>(count), 1);
            break;
        }
        case 3:
            editVector(blob.int32s, random);
            break;
        default:
            editVector(blob.float32s, random);
    }
}

// Moves weights to the weight file; its ranges have the order of the format.
template <typename T>
int64_t moveOut(std::vector<T>& values, std::vector<uint8_t>& file) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    const size_t size = values.size() * sizeof(T);
    file.insert(file.end(), bytes, bytes + size);
    values.clear();
    return static_cast<int64_t>(size);
}

void moveOutConvolution(wire::Convolution2DT& conv, std::vector<uint8_t>& file) {
    conv.external = {static_cast<int64_t>(file.size())};
    if (wire::IDSTQuanT* quan = conv.quanParameter.get()) {
        conv.external.push_back(moveOut(quan->buffer, file));
        conv.external.push_back(quan->alphaFp16.empty() ? moveOut(quan->alpha, file) : moveOut(quan->alphaFp16, file));
        conv.external.push_back(moveOut(conv.bias, file));
        conv.external.push_back(moveOut(quan->index, file));
    } else {
        conv.external.push_back(moveOut(conv.weight, file));
        conv.external.push_back(moveOut(conv.bias, file));
    }
}

void editConvolution(wire::Convolution2DT& conv, std::vector<uint8_t>& file, Random& random) {
    switch (random.below(6)) {
        case 0:
            editVector(conv.weight, random);
            break;
        case 1:
            editVector(conv.bias, random);
            break;
        case 2:
            if (conv.quanParameter)
                editVector(conv.quanParameter->buffer, random);
            else {  // plain weights become sparse ones, halves or codes
                conv.quanParameter = std::make_unique<wire::IDSTQuanT>();
                conv.quanParameter->type = static_cast<int32_t>(random.below(5));
                conv.quanParameter->quantScale = 1.0f;
                conv.quanParameter->alpha.assign(random.below(9), 0.5f);
                conv.quanParameter->weightSize = static_cast<int32_t>(conv.weight.size());
                conv.quanParameter->buffer.assign(conv.weight.size() * (random.oneIn(2) ? 2 : 1), 3);
                if (random.oneIn(2)) conv.quanParameter->index.assign(random.below(9), 1);
            }
            break;
        case 3:
            if (conv.quanParameter) editVector(conv.quanParameter->alpha, random);
            break;
        case 4:
            editVector(conv.external, random, 6);
            break;
        default:
            moveOutConvolution(conv, file);
    }
}

void editParameters(wire::OpT& op, std::vector<uint8_t>& file, Random& random) {
    if (wire::BlobT* blob = op.main.AsBlob()) {
        if (random.oneIn(8)) {
            blob->external = {static_cast<int64_t>(file.size())};
            blob->external.push_back(moveOut(blob->float32s, file));
        } else {
            editBlob(*blob, random);
        }
    } else if (wire::Convolution2DT* conv = op.main.AsConvolution2D()) {
        editConvolution(*conv, file, random);
    } else if (wire::InputT* input = op.main.AsInput()) {
        editVector(input->dims, random, 10);
    } else if (wire::ScaleT* scale = op.main.AsScale()) {
        editVector(random.oneIn(2) ? scale->scaleData : scale->biasData, random);
    } else if (wire::LayerNormT* norm = op.main.AsLayerNorm()) {
        editVector(random.oneIn(2) ? norm->gamma : norm->beta, random);
    }
}

void insertOp(GraphRef graph, wire::NetT& net, std::unique_ptr<wire::OpT> op, Random& random) {
    const size_t position = 1 + random.below(graph.ops.size());
    const auto tensor = static_cast<int32_t>(graph.names.size());
    for (int32_t& id : op->inputIndexes) id = tensorBefore(graph, std::min(position, graph.ops.size()), random);
    for (size_t i = 0; i < op->outputIndexes.size(); ++i) {
        op->outputIndexes[i] = tensor + static_cast<int32_t>(i);
        graph.names.push_back("fuzz" + std::to_string(tensor + static_cast<int32_t>(i)));
    }
    if (!op->outputIndexes.empty() && &graph.ops == &net.oplists && random.oneIn(2))
        net.outputName.push_back(graph.names.back());
    graph.ops.insert(graph.ops.begin() + static_cast<std::ptrdiff_t>(std::min(position, graph.ops.size())),
                     std::move(op));
}

}  // namespace

void editStructure(wire::NetT& net, const wire::NetT& spare, std::vector<uint8_t>& file, Random& random) {
    GraphRef graph = graphOf(net, random);
    if (graph.ops.empty()) return;
    const size_t at = random.below(graph.ops.size());
    wire::OpT& op = *graph.ops[at];
    switch (random.below(14)) {
        case 0:
            op.type = anyType(random);
            break;
        case 1:
            graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 2:
            std::swap(graph.ops[at], graph.ops[random.below(graph.ops.size())]);
            break;
        case 3:
        case 4:
            if (!op.inputIndexes.empty()) random.pick(op.inputIndexes) = tensorBefore(graph, at, random);
            break;
        case 5:
            if (!op.outputIndexes.empty()) random.pick(op.outputIndexes) = anyTensor(graph, random);
            break;
        case 6:
            if (random.oneIn(2))
                op.inputIndexes.push_back(tensorBefore(graph, at, random));
            else if (!op.inputIndexes.empty())
                op.inputIndexes.pop_back();
            break;
        case 7:
            if (!spare.oplists.empty()) {
                const wire::OpT& other = *random.pick(spare.oplists);
                if (random.oneIn(2)) op.type = other.type;
                moveParameters(op, copyOf(other));
            }
            break;
        case 8:
        case 9:
            if (graph.ops.size() < 64 && !spare.oplists.empty()) {
                auto copy = copyOf(*random.pick(spare.oplists));
                if (random.oneIn(4)) copy->type = anyType(random);
                insertOp(graph, net, std::move(copy), random);
            }
            break;
        case 10:
            if (random.oneIn(2) || net.outputName.empty()) {
                if (!net.tensorName.empty()) net.outputName.push_back(random.pick(net.tensorName));
            } else {
                net.outputName.erase(net.outputName.begin() +
                                     static_cast<std::ptrdiff_t>(random.below(net.outputName.size())));
            }
            break;
        default:
            editParameters(op, file, random);
    }
}

}  // namespace fuzz
