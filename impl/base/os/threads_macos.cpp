// The environment, cores and features of processors of macOS. This file is compiled as a check and has never run.
#include "base/os/threads.h"

#include <crt_externs.h>

namespace mnnc::os {

// A dynamic library cannot name the variable environ itself.
std::vector<std::string> environmentVariables() {
    std::vector<std::string> variables;
    for (char** variable = *::_NSGetEnviron(); variable && *variable; ++variable) variables.emplace_back(*variable);
    return variables;
}

// The system binds no threads.
std::vector<UsableCore> usableCores() {
    return {};
}

bool placeThread(ThreadHandle, const std::vector<int>&) noexcept {
    return false;
}

ArmCapabilities armCapabilities() noexcept {
    return {};
}

bool allowMatrixUnit() noexcept {
    return false;
}

}  // namespace mnnc::os
