// The result with which a backend refuses a command, together with a reason.
#pragma once
#include <memory>
#include <string>

#include "backend/execution.h"

namespace mnnc {

// The result of a function that refuses: false, or no execution.
struct Refusal {
    operator bool() const { return false; }                          // NOLINT: it is returned as one
    operator std::unique_ptr<Execution>() const { return nullptr; }  // NOLINT
};

inline Refusal refuse(std::string& reason, std::string sentence) {
    reason = std::move(sentence);
    return {};
}

}  // namespace mnnc
