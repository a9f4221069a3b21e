// Base of executions that need only their command: tensors and parameters by position.
#pragma once
#include <memory>
#include <string>

#include "backend/execution.h"
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

class CommandExecution : public Execution {
  public:
    explicit CommandExecution(const Command& command) : command_(command) {}

  protected:
    const Command& command() const noexcept { return command_; }
    const Operand& in(size_t i) const noexcept { return *command_.inputs[i]; }
    const Operand& out(size_t i = 0) const noexcept { return *command_.outputs[i]; }
    template <typename T>
    const T* inData(const Frame& frame, size_t i) const noexcept {
        return frame.data<const T>(*command_.inputs[i]);
    }
    template <typename T>
    T* outData(const Frame& frame, size_t i = 0) const noexcept {
        return frame.data<T>(*command_.outputs[i]);
    }
    template <typename P>
    const P& params() const noexcept {
        return command_.paramsAs<P>();
    }

  private:
    Command command_;
};

template <typename E>
std::unique_ptr<Execution> makeExecution(CpuBackend&, const Command& command, std::string&) {
    return std::make_unique<E>(command);
}
// For executions whose constructor takes the backend.
template <typename E>
std::unique_ptr<Execution> makeOnBackend(CpuBackend& backend, const Command& command, std::string&) {
    return std::make_unique<E>(backend, command);
}

}  // namespace mnnc::cpu
