// Runs the shape rules of the operators before a cut, without a plan.
#include "session/inferred_inputs.h"

#include "base/error.h"

namespace mnnc {

namespace {

std::vector<std::optional<Operand>> infer(SessionContext& context, const std::vector<int>& ids) {
    const Graph& graph = *context.net->graphs[0].source;
    Pipeline before(context, 0, std::vector<int>(graph.inputs.begin(), graph.inputs.end()), ids);
    for (size_t i = 0; i < before.inputCount(); ++i) {
        const InputDescription model = before.described(i);
        before.describeInput(i, defaultShape(model.shape), model.type, model.format);
    }
    return before.inferOutputs();
}

// Returns whether an error ends the call. All others say that a shape is unknown: the file may contain operators that
// do not fit each other before the inputs of the session.
bool endsCall(const Error& error) {
    switch (error.status()) {
        case Status::OutOfMemory:
        case Status::CallbackStop:
        case Status::FileOpenFailed:
        case Status::FileReadFailed:
        case Status::FileNotExist:
        case Status::Truncated:
        case Status::BackendMissing:
        case Status::Cancelled:
        case Status::DeviceLost:
        case Status::DriverError:
        case Status::FileChanged:
        case Status::Internal:
            return true;
        default:
            return false;
    }
}

}  // namespace

Shape defaultShape(Shape declared) {
    if (declared.rank() > 0 && declared[0] == -1) declared[0] = 1;
    return declared;
}

std::vector<std::optional<Operand>> inferInputs(SessionContext& context, const std::vector<int>& ids) {
    if (ids.empty()) return {};
    try {
        return infer(context, ids);
    } catch (const Error& error) {
        if (endsCall(error)) throw;
    }
    // One of them is unknown, the others may be known.
    std::vector<std::optional<Operand>> result(ids.size());
    for (size_t i = 0; i < ids.size() && ids.size() > 1; ++i) {
        try {
            result[i] = infer(context, {ids[i]}).front();
        } catch (const Error& error) {
            if (endsCall(error)) throw;
        }
    }
    return result;
}

std::vector<std::optional<Operand>> Pipeline::inferOutputs() {
    const std::vector<Tensor> inputs = wantedInputs();
    const ProgramPtr program = stages_[0]->inferShapes({nullptr, inputs});
    std::vector<std::optional<Operand>> result(outputCount());
    for (size_t i = 0; i < outputCount(); ++i) {
        if (!settled(outputId(i))) continue;
        const Operand* made = program->tensors.find(outputId(i) + 1);
        result[i] = made ? *made : output(i);
        result[i]->values = nullptr;
    }
    return result;
}

}  // namespace mnnc
