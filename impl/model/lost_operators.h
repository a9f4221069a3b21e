// Operators that cannot run, since they read what no operator makes, or what such operators make. Converters leave some
// behind where they have given new parameters to the operator that read them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mnnc {

namespace wire {
struct Op;
}

// By operator. given: by tensor, whether it is there without an operator that makes it; operators add theirs.
std::vector<char> lostOperators(const std::vector<const wire::Op*>& ops, std::vector<char> given);

// By operator, whether one of these tensors depends on it.
std::vector<char> operatorsFor(const std::vector<const wire::Op*>& ops, size_t tensorCount,
                               const std::vector<int32_t>& tensors);

}  // namespace mnnc
