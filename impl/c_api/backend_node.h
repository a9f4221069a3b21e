// A host's backend with the callbacks of mnn_backend_t.
#pragma once
#include <memory>
#include <string>

#include "c_api/host_call.h"
#include "mnn_c.h"
#include "net/custom.h"

namespace mnnc {

class CallbackBackend final : public HostBackend {
  public:
    // Becomes responsible for the finalizer only when armFinalizer() is called.
    explicit CallbackBackend(const mnn_backend_t& given);
    ~CallbackBackend() override {
        if (finalizer_) finalizer_(callbacks_.user);
    }
    void armFinalizer(mnn_finalizer finalizer) noexcept { finalizer_ = finalizer; }

    const std::string& name() const noexcept override { return name_; }
    std::unique_ptr<const HostNode> take(const Node& node, NodeDescription description, std::span<Tensor* const> inputs,
                                         std::span<Tensor* const> outputs, std::string& reason) const override;

  private:
    const std::string name_;
    const mnn_operator_callback supports_;
    const NodeCallbacks callbacks_;
    mnn_finalizer finalizer_ = nullptr;
};

}  // namespace mnnc
