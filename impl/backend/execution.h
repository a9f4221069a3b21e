// One command on one backend: prepared once, and run over a frame, which has the memory of a run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/frame.h"

namespace mnnc {

// What an execution keeps from run to run, apart from tensors. Each frame has its own.
class ExecutionState {
  public:
    virtual ~ExecutionState() = default;
};

class Execution {
  public:
    Execution() = default;
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    virtual ~Execution() = default;

    // Called once shapes and storage of all tensors are final, before memory is planned: choose algorithms,
    // prepare weights, say how much scratch a run needs. May throw Error; NotSupported and DriverError from a
    // device mean that the CPU has to take the command.
    virtual void prepare() {}
    // Hot path: may not allocate or lock, nor throw but an Error about contents of tensors. It changes the execution in
    // nothing: what a run writes lies in the frame, which says where tensors and scratch are.
    virtual void run(const Frame& frame) const = 0;

    // Called after prepare() for each frame that runs the execution (Frame::state). Null: it keeps nothing. Throws
    // Error.
    virtual std::unique_ptr<ExecutionState> makeState() const { return nullptr; }

    // Which of several ways prepare() chose, for people to read; empty when there is one only.
    virtual std::string algorithm() const { return {}; }

    // The inputs in whose memory output `output` may be made, bit i for input i: a run with both at one place gives
    // the same. Asked after prepare(); the input is of the output's storage and has no later consumer. No other
    // input that is read elsewhere than at the output's elements shares the memory.
    virtual uint32_t inPlaceInputs(size_t output) const {
        static_cast<void>(output);
        return 0;
    }

    int64_t scratchBytes() const noexcept { return scratchBytes_; }

  protected:
    void requestScratch(int64_t bytes) noexcept { scratchBytes_ = bytes; }  // aligned to 64 bytes

  private:
    int64_t scratchBytes_ = 0;
};

}  // namespace mnnc
