// Loads and parses a model, and keeps what its sessions share.
#include "session/interpreter.h"

#include "model/parameter_count.h"

namespace mnnc {

Interpreter::Interpreter(ModelBytes bytes, const ModelOptions& options)
    : net(parseNet(Model::load(std::move(bytes), options), options.cancel)) {}

uint64_t Interpreter::parameterCount() const {
    return countParameters(model());
}

}  // namespace mnnc
