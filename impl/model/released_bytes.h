// The error of a plan that needs weights whose bytes were released (Model::release).
#pragma once
#include <string>
#include <utility>

#include "base/error.h"

namespace mnnc {

class ReleasedBytes : public Error {
  public:
    ReleasedBytes() : Error(Status::BadState, "bytes are needed once more" + behind()) {}
    explicit ReleasedBytes(const std::string& name)
        : Error(Status::BadState,
                "weights of operator '" + name + "' are needed in a form that is not prepared" + behind()),
          named_(true) {}
    bool named() const noexcept { return named_; }

  private:
    static std::string behind() {
        return ": mnn_interpreter_release_model() gave the bytes of the model back (with MNN_KEEP_WEIGHTS "
               "mnn_interpreter_release_model_keeping() keeps them)";
    }
    bool named_ = false;
};

// Calls a function that may read weights of an operator. Where their bytes were given back, the error names the
// operator.
template <typename Function>
decltype(auto) readingWeightsOf(const std::string& name, Function&& function) {
    try {
        return std::forward<Function>(function)();
    } catch (const ReleasedBytes& error) {
        if (error.named()) throw;
        throw ReleasedBytes(name);
    }
}

}  // namespace mnnc
