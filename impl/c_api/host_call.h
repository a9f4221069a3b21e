// Calls a host's callbacks for a node in the right floating-point mode, and handles their answers.
#pragma once
#include <string>

#include "backend/frame.h"
#include "c_api/node_views.h"
#include "mnn_c.h"
#include "net/custom.h"
#include "net/node_weights.h"

namespace mnnc {

// The common part of mnn_operator_t and mnn_backend_t.
struct NodeCallbacks {
    void* user = nullptr;
    mnn_operator_callback prepare = nullptr;  // may be null
    mnn_operator_callback compute = nullptr;
    mnn_operator_release release = nullptr;  // may be null
};

// A callback's answer. ask() terminates the text that the callback wrote.
struct Answer {
    mnn_status status = MNN_OK;
    void* state = nullptr;  // as the callback left it
    char message[256] = "";
};

// Calls a callback in the default floating-point mode.
Answer ask(mnn_operator_callback callback, void* user, const mnn_node_t& node, const TensorViews& inputs,
           const TensorViews& outputs, void* state, std::span<const mnn_host_tensor_t* const> weights = {});

// Throws the failure that the answer reports, if any. who: names the owner of the callback, and the node.
void requireSuccess(const Answer& answer, const std::string& who, const char* which);

// A node that callbacks compute. The callbacks, the node and `who` outlive the computation. weights: for `prepare`,
// which is called at once.
class CallbackComputation final : public HostComputation {
  public:
    CallbackComputation(const NodeCallbacks& callbacks, const std::string& who, const mnn_node_t& node,
                        std::span<Tensor* const> inputs, std::span<Tensor* const> outputs,
                        std::span<const NodeWeights> weights = {});
    ~CallbackComputation() override;
    void run(const Frame& frame) override;

  private:
    const NodeCallbacks& callbacks_;
    const std::string& who_;
    const mnn_node_t& node_;
    TensorViews inputs_, outputs_;
    void* state_ = nullptr;
};

}  // namespace mnnc
