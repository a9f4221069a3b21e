// Parameters of operators: each wire table is read once into a plain struct derived from Params.
#pragma once
#include <memory>

namespace mnnc {

struct Params {
    Params() = default;
    Params(const Params&) = default;
    Params& operator=(const Params&) = default;
    virtual ~Params() = default;
};

using ParamsPtr = std::shared_ptr<const Params>;

}  // namespace mnnc
