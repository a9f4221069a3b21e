// Names and arities of operators, read from operators.def.
#include "base/op_type.h"

#include <algorithm>
#include <iterator>

namespace mnnc {

namespace {

struct Row {
    OpType type;
    const char* name;
    OpArity arity;
};

constexpr Row kRows[] = {
#define OPERATOR(name, number, minIn, maxIn, minOut, maxOut, ...) {OpType::name, #name, {minIn, maxIn, minOut, maxOut}},
#include "base/operators.def"
#undef OPERATOR
};

static_assert(std::ranges::is_sorted(kRows, {}, &Row::type), "operators.def is sorted by number");

const Row* findRow(OpType type) noexcept {
    const auto* row = std::ranges::lower_bound(kRows, type, {}, &Row::type);
    return row != std::end(kRows) && row->type == type ? row : nullptr;
}

}  // namespace

const char* opTypeName(OpType type) noexcept {
    const Row* row = findRow(type);
    return row ? row->name : nullptr;
}

const OpArity* opArity(OpType type) noexcept {
    const Row* row = findRow(type);
    return row ? &row->arity : nullptr;
}

}  // namespace mnnc
