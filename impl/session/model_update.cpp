// Puts a session's constants into a copy of the parsed net, and into a copy of the file.
#include "session/model_update.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "mnn_generated.h"
#include "model/const_data.h"
#include "ops/control.h"
#include "ops/source.h"
#include "session/session.h"

namespace mnnc {

namespace {

std::shared_ptr<const ConstParams> written(const ConstParams& old, const Operand& value, const void* data) {
    auto params = std::make_shared<ConstParams>();
    params->shape = old.shape;
    params->type = old.type;
    params->format = old.format;
    params->model = old.model;
    params->op = old.op;
    params->name = old.name;
    params->written = true;
    params->owner.count = old.owner.count;
    const auto* bytes = static_cast<const uint8_t*>(data);
    params->owner.owned.assign(bytes, bytes + value.storageBytes());
    params->owner.bytes = params->owner.owned;
    params->data = params->owner.owned.empty() ? nullptr : params->owner.owned.data();
    return params;
}

}  // namespace

std::shared_ptr<const Interpreter> withConstantsOf(const std::shared_ptr<const Interpreter>& interpreter,
                                                   const Session& session) {
    if (&session.model() != &interpreter->model())
        fail(Status::InvalidValue, "the session belongs to another model than the interpreter");
    const std::vector<int> list = session.ownConstants();
    if (list.empty()) return interpreter;
    const std::set<int> ids(list.begin(), list.end());
    auto net = std::make_shared<Net>(*interpreter->net);
    NetGraph& graph = net->graphs[0];
    for (Node& node : graph.nodes) {
        if (isConstantNode(node) && node.params && ids.count(node.outputs[0])) {
            node.params = written(node.paramsAs<ConstParams>(), session.constant(node.outputs[0]),
                                  session.constantData(node.outputs[0]));
        } else if (!runsSubgraphs(node) &&
                   std::any_of(node.inputs.begin(), node.inputs.end(), [&](int id) { return ids.count(id) > 0; })) {
            // The weight store finds weights by their parameters: new parameters keep it from finding those of the old
            // values.
            node.params = renewedParams(*net, 0, node);
        }
    }
    return std::make_shared<const Interpreter>(std::move(net), interpreter->weights);
}

std::vector<uint8_t> modelBytes(const Interpreter& interpreter) {
    const ModelBytes& file = interpreter.model().bytes();
    const HeldBytes whole = file.view(0, file.size());
    std::vector<uint8_t> bytes(whole.bytes.begin(), whole.bytes.end());
    for (const Node& node : interpreter.net->graphs[0].nodes) {
        const ConstParams* params = isConstantNode(node) ? node.paramsIf<ConstParams>() : nullptr;
        if (!params || !params->written || !params->data) continue;
        encodeBlob(*params->op->main_as_Blob(), params->data, params->owner.count, file.data(), bytes,
                   node.name.c_str());
    }
    return bytes;
}

}  // namespace mnnc
