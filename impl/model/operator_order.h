// Determines the order in which the operators of a graph run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/op_type.h"

namespace mnnc {

namespace wire {
struct Op;
}

// Whether operators of this type produce a tensor and read none.
inline bool isLeaf(OpType type) {
    return type == OpType::Const || type == OpType::TrainableParam || type == OpType::Input;
}

// Positions of the operators in execution order. This is file order, except that an operator that reads a tensor whose
// only writer comes later in the file runs after that writer. Several writers of one tensor, and the operators that
// read it, keep file order; the same holds for a constant that an operator writes. `title` begins every sentence.
// Throws Cycle where operators wait for each other, and BadFormat where an operator reads a tensor with several writers
// that all come later.
std::vector<uint32_t> operatorOrder(const std::vector<const wire::Op*>& ops, size_t tensorCount,
                                    const std::string& title);

}  // namespace mnnc
