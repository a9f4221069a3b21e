// The check of executions whose first input must be a float tensor.
#pragma once
#include <memory>
#include <string>

#include "backends/cpu/cpu_backend.h"
#include "base/error.h"

namespace mnnc::cpu {

inline bool takesFloats(const Command& command, std::string& reason) {
    if (command.inputs[0]->type == DataType::Float32) return true;
    return refuse(reason, format("%s needs float32, the input is %s", opTypeName(command.type),
                                 dataTypeName(command.inputs[0]->type)));
}

template <typename E>
std::unique_ptr<Execution> makeFloatExecution(CpuBackend& backend, const Command& command, std::string& reason) {
    if (!takesFloats(command, reason)) return nullptr;
    return std::make_unique<E>(backend, command);
}

}  // namespace mnnc::cpu
