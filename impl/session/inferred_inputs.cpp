// Runs the shape rules of the operators before a cut, without a plan.
#include "session/inferred_inputs.h"

#include "base/error.h"
#include "session/encoding.h"

namespace mnnc {

namespace {

std::vector<std::optional<Tensor>> infer(SessionContext& context, const std::vector<int>& ids) {
    const Graph& graph = *context.net->graphs[0].source;
    Pipeline before(context, 0, std::vector<int>(graph.inputs.begin(), graph.inputs.end()), ids);
    for (size_t i = 0; i < before.inputCount(); ++i) {
        const InputDescription model = before.described(i);
        before.describeInput(i, defaultShape(model.shape), model.type, model.format);
    }
    return before.inferOutputs();
}

// Whether the exception under way means that a shape is not to be had, and not that the call has to end.
bool isUnknownShape(const Error& error) {
    return error.status() != Status::OutOfMemory && error.status() != Status::Cancelled;
}

}  // namespace

Shape defaultShape(Shape declared) {
    if (declared.rank() > 0 && declared[0] == -1) declared[0] = 1;
    return declared;
}

std::vector<std::optional<Tensor>> inferInputs(SessionContext& context, const std::vector<int>& ids) {
    if (ids.empty()) return {};
    try {
        return infer(context, ids);
    } catch (const Error& error) {
        if (!isUnknownShape(error)) throw;
    }
    // One of them is unknown: the others may be known.
    std::vector<std::optional<Tensor>> result(ids.size());
    for (size_t i = 0; i < ids.size() && ids.size() > 1; ++i) {
        try {
            result[i] = infer(context, {ids[i]}).front();
        } catch (const Error& error) {
            if (!isUnknownShape(error)) throw;
        }
    }
    return result;
}

std::vector<std::optional<Tensor>> Pipeline::inferOutputs() {
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        input(i).shape = wanted_[i].shape;
        input(i).type = wanted_[i].type;
        input(i).format = wanted_[i].format;
    }
    std::vector<Encoding::Ptr> encodings;  // which have the memory of folded values
    for (const Stage::Item& item : stages_[0]->items()) {
        context_.cancel.check();
        if (item.control) continue;  // its outputs are of a later stage
        std::vector<Tensor*> inputs, outputs;
        for (const int id : item.op->node->inputs)
            if (id >= 0) inputs.push_back(&tensors_[static_cast<size_t>(id)]);
        for (const int id : item.op->node->outputs) outputs.push_back(&tensors_[static_cast<size_t>(id)]);
        encodings.push_back(std::make_shared<const Encoding>(context_, planning_, *item.op, inputs, outputs,
                                                             [](const Tensor*) { return nullptr; }));
    }
    std::vector<std::optional<Tensor>> result(outputCount());
    for (size_t i = 0; i < outputCount(); ++i) {
        if (!settled(outputId(i))) continue;
        result[i] = output(i);
        result[i]->values = nullptr;
    }
    return result;
}

}  // namespace mnnc
