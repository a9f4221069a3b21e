// Changes of storage: row-major <-> channel-packed, and between floats of 32 and of 16 bits, as the tensors require.
#pragma once
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

class Conversion : public VulkanExecution {
  public:
    Conversion(VulkanBackend& backend, const Operand& from, const Operand& to)
        : VulkanExecution(backend), from_(from), to_(to) {}

    void prepare() override;
    void encode(FrameRecorder& recorder) const override;
    const Operand* movable() const override { return to_.onDevice ? nullptr : &to_; }

  protected:
    virtual const Operand& source() const { return from_; }
    const Operand& from_;
    const Operand& to_;

  private:
    const Operand& packed() const { return to_.channelBlock > 1 ? to_ : from_; }
    bool alike() const;
    bool hasRest() const;

    const Pipeline* pipeline_ = nullptr;
};

}  // namespace mnnc::vulkan
