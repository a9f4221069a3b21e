// One command on the device: chooses its pipelines in prepare, writes its dispatches in encode.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "backend/execution.h"
#include "backends/vulkan/device/recorder.h"
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

class VulkanExecution : public Execution {
  public:
    explicit VulkanExecution(VulkanBackend& backend) : backend_(backend) {}
    // The frame whose memory the recording uses, and the number of the scratch in it.
    void bindFrame(const Frame& frame, int scratch) noexcept {
        frame_ = &frame;
        scratch_ = scratch;
    }
    // The frame has all memory. Records; never submits.
    virtual void encode(Recorder& recorder) = 0;
    // The host's part of a run, before the device starts: may not allocate or throw.
    virtual void beforeSubmit() {}
    virtual bool hasHostPart() const { return false; }
    // The tensor of the host that it reads or writes, whose memory may become another after it was recorded; null: none.
    virtual const Operand* movable() const { return nullptr; }
    // Bytes of host-visible memory that the device writes for the host to read after the run; bound before encode().
    virtual int64_t reportBytes() const { return 0; }
    void bindReport(const Block& block, int64_t offset) noexcept {
        report_ = &block;
        reportOffset_ = offset;
    }
    // The host's part of a run with a report, once the device is done: may not allocate, nor throw but an Error about
    // contents of tensors.
    virtual void afterRun() const {}
    void run(const Frame&) const final {}  // the RecordedBatch runs all of them

  protected:
    VulkanBackend& backend() const noexcept { return backend_; }
    const Frame& frame() const noexcept { return *frame_; }

    // The whole storage of a tensor of the device, or of a host tensor that the device sees.
    Binding reads(const Operand& tensor) const { return bind(tensor, false); }
    Binding writes(const Operand& tensor) const { return bind(tensor, true); }
    Binding reads(const Block& block) const { return bindBlock(block, 0, block.bytes(), false); }
    // `bytes` of the scratch from `offset`, a multiple of the backend's alignment().
    Binding scratch(int64_t offset, int64_t bytes, bool write) const;
    Binding writesReport() const { return bindBlock(*report_, reportOffset_, reportBytes(), true); }
    const uint32_t* report() const {
        return reinterpret_cast<const uint32_t*>(static_cast<const char*>(report_->host()) + reportOffset_);
    }

  private:
    Binding bind(const Operand& tensor, bool write) const;
    static Binding bindBlock(const Block& block, int64_t offset, int64_t bytes, bool write) {
        return {block.buffer(), block.offset() + offset, bytes, write};
    }
    VulkanBackend& backend_;
    const Frame* frame_ = nullptr;
    int scratch_ = 0;
    const Block* report_ = nullptr;
    int64_t reportOffset_ = 0;
};

// Words of push constants: uint32_t, int32_t or float each.
class Push {
  public:
    Push& u(int64_t value) {
        words_.push_back(static_cast<uint32_t>(value));
        return *this;
    }
    Push& f(float value) {
        uint32_t word;
        static_assert(sizeof word == sizeof value);
        __builtin_memcpy(&word, &value, sizeof word);
        words_.push_back(word);
        return *this;
    }
    operator std::span<const uint32_t>() const { return words_; }

  private:
    std::vector<uint32_t> words_;
};

inline uint32_t floatWord(float value) {
    uint32_t word;
    __builtin_memcpy(&word, &value, sizeof word);
    return word;
}

}  // namespace mnnc::vulkan
