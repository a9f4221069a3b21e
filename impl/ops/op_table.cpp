#include "ops/families.h"

namespace mnnc {

const OpDef* findOpDef(OpType type) noexcept {
    using FamilyFunction = OpFamily (*)();
    static constexpr FamilyFunction kFamilies[] = {
#define MNN_C_FAMILY(name) name##Ops,
#include "ops/families.def"
#undef MNN_C_FAMILY
    };
    for (const FamilyFunction family : kFamilies)
        for (const OpDef& def : family())
            if (def.type == type) return &def;
    return nullptr;
}

}  // namespace mnnc
