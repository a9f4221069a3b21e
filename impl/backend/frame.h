// The memory of one run of a plan: a table with the place of each operand. Executions are prepared once and hold no
// addresses of their own; they look them up in the frame while they run.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace mnnc {

class ExecutionState;  // see backend/execution.h
class DeviceBlock;     // memory of a backend, see backend/device_backend.h
class ThreadPool;

// A place in memory of a device.
struct DevicePlace {
    DeviceBlock* block = nullptr;
    int64_t offset = 0;  // bytes

    bool operator==(const DevicePlace&) const = default;
};

class Frame {
  public:
    // operands: the highest number of an operand plus one.
    explicit Frame(int operands = 1) { grow(operands); }
    void grow(int operands) {
        if (static_cast<size_t>(operands) <= data_.size()) return;
        blocks_.resize(static_cast<size_t>(operands));
        data_.resize(static_cast<size_t>(operands));  // last: its size says that both have been enlarged
    }

    // The elements of a tensor in the host's memory; null where it has none there.
    template <typename T>
    T* data(const Tensor& tensor) const noexcept {
        return static_cast<T*>(data_[static_cast<size_t>(tensor.number)]);
    }
    // The same in memory of a device. Tensors that the host and the device exchange have both.
    const DevicePlace& device(const Tensor& tensor) const noexcept {
        return blocks_[static_cast<size_t>(tensor.number)];
    }
    // The scratch of the present step; its content is undefined at first.
    void* scratch() const noexcept { return data_[static_cast<size_t>(scratch_)]; }

    void place(int operand, void* data) noexcept { data_[static_cast<size_t>(operand)] = data; }
    void place(int operand, const DevicePlace& place) noexcept { blocks_[static_cast<size_t>(operand)] = place; }
    void* data(int operand) const noexcept { return data_[static_cast<size_t>(operand)]; }
    const DevicePlace& device(int operand) const noexcept { return blocks_[static_cast<size_t>(operand)]; }
    // The threads of the run.
    ThreadPool& pool() const noexcept { return *pool_; }
    void usePool(ThreadPool& pool) noexcept { pool_ = &pool; }
    // The state that the execution of the present step keeps between runs over this frame.
    ExecutionState* state() const noexcept { return state_; }
    // Called before each step. scratch: its number; 0: it has none. state: null: it keeps none.
    void beginStep(int scratch, ExecutionState* state) noexcept {
        scratch_ = scratch;
        state_ = state;
    }

    // The number of earlier runs over this memory. An execution that reads large weights once reverses its direction in
    // every second run, because the cache still has the part that the previous run read last.
    uint64_t number() const noexcept { return number_; }
    bool isOdd() const noexcept { return number_ % 2 != 0; }
    // Ends this run.
    void endRun() noexcept { ++number_; }

  private:
    std::vector<void*> data_;  // by operand; entry 0 is for tensors without memory
    std::vector<DevicePlace> blocks_;
    int scratch_ = 0;
    ExecutionState* state_ = nullptr;
    ThreadPool* pool_ = nullptr;
    uint64_t number_ = 0;
};

}  // namespace mnnc
