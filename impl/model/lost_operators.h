// Finds operators that cannot run, because they read a tensor without a producer, or a result of another such operator.
// Converters leave some behind where they have given new parameters to the operator that read their results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mnnc {

namespace wire {
struct Op;
}

// Returns, by operator, whether it cannot run. given: by tensor, whether it exists without a producer.
std::vector<char> lostOperators(const std::vector<const wire::Op*>& ops, std::vector<char> given);

// Returns, by operator, whether one of `tensors` depends on it.
std::vector<char> operatorsFor(const std::vector<const wire::Op*>& ops, size_t tensorCount,
                               const std::vector<int32_t>& tensors);

}  // namespace mnnc
