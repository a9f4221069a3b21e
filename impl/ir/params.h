// Parameters of operators: each wire table is read once into a plain struct that derives from ParamsOf<itself>.
#pragma once
#include <memory>

namespace mnnc {

// Identifies the struct of a Params object: each struct has its own mark, so that a command's parameters cannot be read
// as another struct.
using ParamsKind = const void*;

template <typename T>
inline char paramsMark;  // only its address is used

template <typename T>
struct ParamsOf;

struct Params {
    Params(const Params&) = default;
    Params& operator=(const Params&) = default;
    virtual ~Params() = default;

    ParamsKind kind() const noexcept { return kind_; }

  private:
    template <typename T>
    friend struct ParamsOf;
    explicit Params(ParamsKind kind) : kind_(kind) {}

    ParamsKind kind_;
};

template <typename T>
struct ParamsOf : Params {
    static ParamsKind ownKind() noexcept { return &paramsMark<T>; }

  protected:
    ParamsOf() : Params(ownKind()) {}
};

using ParamsPtr = std::shared_ptr<const Params>;

// Returns the parameters as a T; null when there are none or they are of another struct.
template <typename T>
const T* paramsIf(const Params* params) noexcept {
    return params && params->kind() == T::ownKind() ? static_cast<const T*>(params) : nullptr;
}

// Throws Error(Internal) with a sentence that names the operator.
[[noreturn]] void failWrongParams(const Params* params, const char* name);

// Returns the parameters as a T; throws when there are none or they are of another struct. `name` is the operator's.
template <typename T>
const T& paramsAs(const Params* params, const char* name) {
    if (const T* found = paramsIf<T>(params)) return *found;
    failWrongParams(params, name);
}

}  // namespace mnnc
