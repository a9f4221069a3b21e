// Asks a backend of the host which nodes it computes.
#include "c_api/backend_node.h"

#include "base/error.h"

namespace mnnc {

namespace {

class BackendNode final : public HostNode {
  public:
    BackendNode(const std::string& backend, const NodeCallbacks& callbacks, const Node& node,
                NodeDescription description)
        : backend_(backend),
          callbacks_(callbacks),
          type_(node.type),
          params_(node.params),
          view_(std::move(description)),
          who_(format("backend '%s' at node '%s'", backend.c_str(), view_.get().name)) {}

    const char* typeName() const noexcept override { return view_.get().type_name; }
    const char* backendName() const noexcept override { return backend_.c_str(); }
    std::unique_ptr<HostComputation> plan(std::span<Tensor* const> inputs,
                                          std::span<Tensor* const> outputs) const override {
        std::vector<NodeWeights> weights;
        if (callbacks_.prepare) weights = nodeWeights(type_, params_, inputs, view_.get().name);
        return std::make_unique<CallbackComputation>(callbacks_, who_, view_.get(), inputs, outputs, weights);
    }
    const mnn_node_t& node() const noexcept { return view_.get(); }
    const std::string& who() const noexcept { return who_; }

  private:
    const std::string& backend_;
    const NodeCallbacks& callbacks_;
    const OpType type_;
    const ParamsPtr params_;
    const NodeView view_;
    const std::string who_;
};

}  // namespace

CallbackBackend::CallbackBackend(const mnn_backend_t& given)
    : name_(given.name),
      supports_(given.supports),
      callbacks_{given.user_data, given.prepare, given.compute, given.release} {}

std::unique_ptr<const HostNode> CallbackBackend::take(const Node& node, NodeDescription description,
                                                      std::span<Tensor* const> inputs, std::span<Tensor* const> outputs,
                                                      std::string& reason) const {
    auto made = std::make_unique<BackendNode>(name_, callbacks_, node, std::move(description));
    TensorViews in(inputs), out(outputs);
    in.show([](size_t, const Tensor& tensor) { return tensor.values; });
    out.show([](size_t, const Tensor&) -> const void* { return nullptr; });
    const Answer answer = ask(supports_, callbacks_.user, made->node(), in, out, nullptr);
    if (answer.status != MNN_ERROR_NOT_SUPPORTED) {
        requireSuccess(answer, made->who(), "supports");
        return made;
    }
    reason =
        format("backend '%s' does not compute it%s%s", name_.c_str(), answer.message[0] ? ": " : "", answer.message);
    return nullptr;
}

}  // namespace mnnc
