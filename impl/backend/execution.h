// One command on one backend: prepared once, and run over a frame, which has the memory of a run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/frame.h"

namespace mnnc {

struct KeptNeeds;  // see backend/kept_state.h

// State that an execution keeps between runs, besides tensors. Each frame has its own.
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

    // Called when shapes and storage of all tensors are final, before memory is planned. Chooses algorithms, prepares
    // weights, and requests the scratch of a run. May throw Error; NotSupported and DriverError from a device mean that
    // the CPU has to take the command.
    virtual void prepare() {}
    // Hot path: must neither allocate nor lock, and may throw only an Error about contents of tensors. It does not
    // change the execution: a run writes only to the memory of the frame, which has the places of tensors and scratch.
    virtual void run(const Frame& frame) const = 0;

    // Called after prepare() for each frame that runs the execution (Frame::state). Null: it keeps no state. Throws
    // Error.
    virtual std::unique_ptr<ExecutionState> makeState() const { return nullptr; }
    // Describes the data that the execution keeps in the session; runs find it as the state (a KeptState) of the frame.
    // Null: it keeps nothing.
    virtual const KeptNeeds* kept() const noexcept { return nullptr; }

    // The algorithm that prepare() chose, as text for reports; empty when there is only one.
    virtual std::string algorithm() const { return {}; }

    // Bit i is set when output `output` may be written to the memory of input i: the result must be the same when both
    // lie at one place. Called after prepare(); the input has the output's storage and no later consumer. The memory is
    // not shared with another input that is read at other elements than the output's.
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
