// Finds the definition of an operator in the tables of all families.
#include "ops/families.h"

namespace mnnc {

const OpDef* findOpDef(OpType type) noexcept {
    static constexpr const OpFamily* kFamilies[] = {
#define MNN_C_FAMILY(name) &name##Ops,
#include "ops/families.def"
#undef MNN_C_FAMILY
    };
    for (const OpFamily* family : kFamilies)
        for (const OpDef& def : *family)
            if (def.type == type) return &def;
    return nullptr;
}

}  // namespace mnnc
