// A host's operator with the callbacks of mnn_operator_t.
#pragma once
#include <memory>
#include <string>

#include "mnn_c.h"
#include "net/custom.h"

namespace mnnc {

class CallbackOperator final : public HostOperator {
  public:
    // Becomes responsible for the finalizer only when armFinalizer() is called.
    explicit CallbackOperator(const mnn_operator_t& given) : callbacks_(given), name_(given.name) {
        callbacks_.name = name_.c_str();
        callbacks_.finalizer = nullptr;
    }
    ~CallbackOperator() override {
        if (callbacks_.finalizer) callbacks_.finalizer(callbacks_.user_data);
    }
    void armFinalizer(mnn_finalizer finalizer) noexcept { callbacks_.finalizer = finalizer; }

    const std::string& name() const noexcept override { return name_; }
    std::unique_ptr<const HostOperatorNode> makeNode(NodeDescription description) const override;
    const mnn_operator_t& callbacks() const noexcept { return callbacks_; }

  private:
    mnn_operator_t callbacks_;
    const std::string name_;
};

}  // namespace mnnc
