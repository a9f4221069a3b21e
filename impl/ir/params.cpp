// Throws the error for parameters of an unexpected kind.
#include "ir/params.h"

#include "base/error.h"

namespace mnnc {

void failWrongParams(const Params* params, const char* name) {
    fail(Status::Internal, "op '%s' %s", name,
         params ? "carries the parameters of another operator" : "carries no parameters");
}

}  // namespace mnnc
