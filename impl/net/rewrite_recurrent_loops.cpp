// Recurrent layers that a converter wrote as loops become operators again.
//
// The converter writes an LSTM or a GRU as follows: a Shape of the sequence [steps, batch, inputs]; Reshape, a 1 x 1
// Convolution and changes of layout, which produce the products of all inputs; and a While with as many rounds as there
// are steps. Its body takes the rows of its step with a SliceTf, adds a Convolution of the state, and computes the
// gates. The body passes the shape and the products on unchanged, besides the state (and the cell state of an LSTM),
// and outputs each new state as a scan output. A backward layer takes the steps from the last one on.
#include <algorithm>
#include <iterator>

#include "mnn_generated.h"
#include "net/net_rewrites.h"
#include "net/recurrent_step.h"
#include "ops/control.h"
#include "ops/looped_layer.h"
#include "ops/recurrent.h"
#include "ops/source.h"

namespace mnnc {

namespace {

using Nodes = RewriteNodes;

std::shared_ptr<const ConvolutionContent> contentOf(const Node& product) {
    return std::make_shared<const ConvolutionContent>(std::static_pointer_cast<const ConvParams>(product.params),
                                                      product.name);
}

// Returns whether a tensor is a condition that always holds. Conditions of the main graph, which sessions may write,
// are integers.
bool holds(const Nodes& nodes, int id) {
    if (const std::optional<List> values = nodes.constant(id)) return values->front() > 0;
    const Node* made = nodes.ofType(nodes.producer(id), OpType::Const);
    const auto* params = made ? made->paramsIf<ConstParams>() : nullptr;
    return params && params->type == DataType::Float32 && params->data && params->shape.elements() == 1 &&
           *static_cast<const float*>(params->data) > 0;
}

// The sequence that a layer reads, and the product of its inputs.
struct Sequence {
    int x = -1;
    const Node* product = nullptr;
    std::vector<int> between;  // tensors between them
};

std::optional<Sequence> sequenceOf(const Nodes& nodes, int products) {
    const size_t last = nodes.producer(products);
    const Node* plain = nodes.plainConvert(last);
    if (!plain || nodes.op(last).main_as_TensorConvertInfo()->dest() != wire::MNN_DATA_FORMAT::NCHW) return {};
    Sequence found;
    found.product = plainProduct(nodes, plain->inputs[0]);
    if (!found.product) return {};
    int images = found.product->inputs[0];
    found.between = {products, plain->inputs[0], images};
    if (const Node* convert = nodes.plainConvert(nodes.producer(images))) {
        images = convert->inputs[0];
        found.between.push_back(images);
    }
    found.x = reshapedFrom(nodes, images, {-1, found.product->paramsAs<ConvParams>().inputCount, 1, 1});
    return found.x < 0 ? std::nullopt : std::optional(std::move(found));
}

// Extents that no constant of a file is likely to have, and the rounds of the loop.
struct LoopProbe {
    int64_t steps, batch, inputs, round;
};
constexpr LoopProbe kLoopProbes[] = {{1009, 1013, 1019, 0}, {1021, 1031, 1033, 1}, {1039, 1049, 1051, 517}};

// Returns whether the loop has a round for each step of the sequence, and each round takes the rows of its step; sets
// `backwards`.
bool takesStepByStep(const Nodes& nodes, const Node& loop, const LoopBody& body, const RecurrentStep& step,
                     const Node& slice, const Sequence& sequence, bool& backwards) {
    const int64_t columns = step.product->paramsAs<ConvParams>().outputCount;
    bool both[] = {true, true};  // forwards, backwards
    for (const LoopProbe& e : kLoopProbes) {
        const List extents = {e.steps, e.batch, e.inputs};
        ExtentValues outside(nodes), inside(body.nodes);
        outside.setShape(sequence.x, extents);
        if (outside(loop.inputs[0]) != List{e.steps}) return false;
        inside.setValues(body.input(0), {e.round});
        for (int at = 2; at < body.inputs(); ++at)
            if (body.passesThrough(at) && outside(loop.inputs[static_cast<size_t>(at)]) == extents)
                inside.setValues(body.input(at), extents);
        if (inside(slice.inputs[2]) != List{e.batch, columns, 1, 1}) return false;
        const std::optional<List> begin = inside(slice.inputs[1]);
        both[0] &= begin == List{e.batch * e.round, 0, 0, 0};
        both[1] &= begin == List{e.batch * (e.steps - 1 - e.round), 0, 0, 0};
    }
    backwards = both[1];
    return both[0] || both[1];
}

std::optional<Rewrite> layerAt(const Nodes& nodes, size_t place, Net& net) {
    nodes.beginMatch();
    const Node* loop = nodes.ofType(place, OpType::While);
    const auto* params = loop ? loop->paramsIf<WhileParams>() : nullptr;
    const int graph = params && params->condGraph.empty() ? net.model->findGraph(params->bodyGraph) : -1;
    if (graph < 0 || !loop->fixed.empty()) return {};
    NetGraph& called = net.graphs[static_cast<size_t>(graph)];
    const LoopBody body(called);
    const auto outputs = static_cast<int>(loop->outputs.size());
    // One scan output follows the carried values.
    if (!called.quants.empty() || body.inputs() != static_cast<int>(loop->inputs.size()) ||
        outputs != body.inputs() - 1 || body.outputs() != outputs + 1 || !nodes.constant(loop->inputs[1]) ||
        !holds(nodes, loop->inputs[1]) || !holds(body.nodes, body.output(0)))
        return {};
    const int result = body.behindIdentity(body.output(outputs));
    const std::optional<RecurrentStep> step = recurrentStep(body, result);
    if (!step) return {};

    const Node* slice = body.nodes.ofType(body.nodes.producer(step->rows), OpType::SliceTf);
    const int products = slice ? body.inputAt(slice->inputs[0]) : -1;
    if (products < 2 || !body.passesThrough(products)) return {};
    const std::optional<Sequence> sequence = sequenceOf(nodes, loop->inputs[static_cast<size_t>(products)]);
    auto layer = std::make_shared<LoopedLayer>();
    if (!sequence ||
        sequence->product->paramsAs<ConvParams>().outputCount != step->product->paramsAs<ConvParams>().outputCount ||
        !takesStepByStep(nodes, *loop, body, *step, *slice, *sequence, layer->backwards))
        return {};
    layer->inputs = contentOf(*sequence->product);
    layer->states = contentOf(*step->product);

    Rewrite rewrite;
    rewrite.node = *loop;
    rewrite.node.type = step->type;
    rewrite.node.def = findOpDef(step->type);
    rewrite.node.inputs = {sequence->x, loop->inputs[static_cast<size_t>(step->state)]};
    rewrite.node.outputs = {loop->outputs.back(), loop->outputs[static_cast<size_t>(step->state - 2)]};
    if (step->cell >= 0) {
        rewrite.node.inputs.push_back(loop->inputs[static_cast<size_t>(step->cell)]);
        rewrite.node.outputs.push_back(loop->outputs[static_cast<size_t>(step->cell - 2)]);
    }
    auto recurrent = std::make_shared<RecurrentParams>();
    recurrent->hidden = step->hidden;
    recurrent->linearBeforeReset = recurrent->keepAllOutputs = recurrent->rowWeights =
        step->type == OpType::RNNSequenceGRU;
    recurrent->looped = std::move(layer);
    rewrite.node.params = std::move(recurrent);
    rewrite.place = place;
    rewrite.bypassed = sequence->between;
    rewrite.bypassed.insert(rewrite.bypassed.end(), loop->inputs.begin(), loop->inputs.begin() + 2);
    for (int at = 2; at < body.inputs(); ++at) {
        if (at == step->state || at == step->cell) continue;
        rewrite.bypassed.push_back(loop->inputs[static_cast<size_t>(at)]);
        const int id = loop->outputs[static_cast<size_t>(at - 2)];
        if (!body.passesThrough(at) || !nodes.consumers(id).empty()) return {};
        rewrite.hidden.push_back(id);
    }
    nodes.keepMatch();
    body.nodes.keepMatch();
    return rewrite;
}

}  // namespace

void rewriteRecurrentLoops(Net& net, size_t graph) {
    NetGraph& own = net.graphs[graph];
    // Int8 scales belong to the parts, not to the whole.
    if (!own.quants.empty() ||
        std::none_of(own.nodes.begin(), own.nodes.end(), [](const Node& node) { return runsSubgraphs(node); }))
        return;
    std::vector<Rewrite> found;
    {
        const Nodes nodes(own);
        for (size_t i = 0; i < nodes.size(); ++i)
            if (std::optional<Rewrite> rewrite = layerAt(nodes, i, net)) found.push_back(std::move(*rewrite));
    }
    std::move(found.begin(), found.end(), std::back_inserter(own.rewrites));
}

}  // namespace mnnc
