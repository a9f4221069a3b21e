// The parameter tables of operators, read from operators.def and checked against the schema.
#include "model/table_rules.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace mnnc {

namespace {

using enum wire::OpParameter;
using enum TableUse;

constexpr TableRule kRules[] = {
#define OPERATOR(name, number, minIn, maxIn, minOut, maxOut, use, ...) {OpType::name, use, {__VA_ARGS__}},
#include "base/operators.def"
#undef OPERATOR
};

#define OPERATOR(name, number, ...) \
    static_assert(static_cast<int32_t>(wire::OpType::name) == (number), "the schema has another number of " #name);
#include "base/operators.def"
#undef OPERATOR
static_assert(std::size(kRules) == std::extent_v<std::remove_reference_t<decltype(wire::EnumValuesOpType())>>,
              "the schema has operators that operators.def lacks");

}  // namespace

const TableRule* findTableRule(OpType type) noexcept {
    const auto* rule = std::ranges::lower_bound(kRules, type, {}, &TableRule::type);
    return rule != std::end(kRules) && rule->type == type && rule->use != Unchecked ? rule : nullptr;
}

bool TableRule::accepts(wire::OpParameter table) const noexcept {
    if (table == NONE) return false;  // NONE also fills the unused entries
    return std::ranges::find(tables, table) != std::end(tables);
}

}  // namespace mnnc
