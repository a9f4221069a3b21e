// The order in which the operators of a graph run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mnnc {

namespace wire {
struct Op;
}

// Positions of the operators in the order in which they run: that of the file, but an operator that reads a tensor
// whose only writer stands behind it runs after that writer. Writers of one tensor, and the operators that read it,
// keep the order of the file; a constant that an operator writes counts as such a tensor. `title` opens every sentence.
// Throws Cycle where operators wait for each other, BadFormat where a tensor is read that has several writers, all
// behind.
std::vector<uint32_t> operatorOrder(const std::vector<const wire::Op*>& ops, size_t tensorCount,
                                    const std::string& title);

}  // namespace mnnc
