// Calls the callbacks of operators and backends of the host.
#include "c_api/host_call.h"

#include "base/float_mode.h"

namespace mnnc {

namespace {

mnn_host_tensor_t viewOf(const NodeWeights& weights) {
    mnn_host_tensor_t view{};
    view.struct_size = sizeof view;
    view.name = "";
    view.data = weights.values.empty() ? nullptr : const_cast<float*>(weights.values.data());
    view.bytes = weights.values.size() * sizeof(float);
    view.type = MNN_TYPE_FLOAT32;
    view.format = MNN_FORMAT_NCHW;
    view.rank = weights.shape.rank();
    for (int k = 0; k < view.rank; ++k) view.dims[k] = static_cast<int32_t>(weights.shape[k]);
    return view;
}

}  // namespace

Answer ask(mnn_operator_callback callback, void* user, const mnn_node_t& node, const TensorViews& inputs,
           const TensorViews& outputs, void* state, std::span<const mnn_host_tensor_t* const> weights) {
    Answer answer;
    mnn_operator_call_t call{};
    call.struct_size = sizeof call;
    call.node = &node;
    call.inputs = inputs.pointers();
    call.input_count = inputs.size();
    call.outputs = outputs.pointers();
    call.output_count = outputs.size();
    call.state = state;
    call.message = answer.message;
    call.message_size = sizeof answer.message;
    call.weights = weights.empty() ? nullptr : weights.data();
    call.weight_count = weights.size();
    {
        const ScopedFloatMode mode(FloatMode::computing(true));
        answer.status = callback(user, &call);
    }
    answer.state = call.state;
    answer.message[sizeof answer.message - 1] = '\0';
    return answer;
}

void requireSuccess(const Answer& answer, const std::string& who, const char* which) {
    if (answer.status == MNN_OK) return;
    if (!isStatus(answer.status))
        fail(Status::InvalidValue, "%s: its %s callback returned %d, which is no status", who.c_str(), which,
             answer.status);
    fail(static_cast<Status>(answer.status), "%s: its %s callback returned %s%s%s", who.c_str(), which,
         mnn_status_name(answer.status), answer.message[0] ? ": " : "", answer.message);
}

CallbackComputation::CallbackComputation(const NodeCallbacks& callbacks, const std::string& who, const mnn_node_t& node,
                                         std::span<Tensor* const> inputs, std::span<Tensor* const> outputs,
                                         std::span<const NodeWeights> weights)
    : callbacks_(callbacks), who_(who), node_(node), inputs_(inputs), outputs_(outputs) {
    if (!callbacks_.prepare) return;
    inputs_.show([](size_t, const Tensor& tensor) { return tensor.values; });
    outputs_.show([](size_t, const Tensor&) -> const void* { return nullptr; });
    std::vector<mnn_host_tensor_t> views(weights.size());
    std::vector<const mnn_host_tensor_t*> pointers;
    for (size_t i = 0; i < weights.size(); ++i) {
        views[i] = viewOf(weights[i]);
        pointers.push_back(&views[i]);
    }
    const Answer answer = ask(callbacks_.prepare, callbacks_.user, node_, inputs_, outputs_, nullptr, pointers);
    requireSuccess(answer, who_, "prepare");
    state_ = answer.state;
}

CallbackComputation::~CallbackComputation() {
    if (!state_ || !callbacks_.release) return;
    const ScopedFloatMode mode(FloatMode::computing(true));
    callbacks_.release(callbacks_.user, state_);
}

void CallbackComputation::run(const Frame& frame) {
    const auto all = [&](size_t, const Tensor& tensor) { return frame.data<const void>(tensor); };
    inputs_.show(all);
    outputs_.show(all);
    requireSuccess(ask(callbacks_.compute, callbacks_.user, node_, inputs_, outputs_, state_), who_, "compute");
}

}  // namespace mnnc
