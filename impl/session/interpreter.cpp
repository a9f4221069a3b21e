// Loads and parses a model, and keeps what its sessions share.
#include "session/interpreter.h"

#include "model/parameter_count.h"

namespace mnnc {

Interpreter::Interpreter(ModelBytes bytes, const ModelOptions& options)
    : net(parseNet(Model::load(std::move(bytes), options), options.cancel)) {}

std::shared_ptr<const Interpreter> Interpreter::withOperators(const HostOperators& operators) const {
    auto bound = std::make_shared<Interpreter>(*this);
    bound->net = bindHostOperators(*net, operators);
    bound->programs = std::make_shared<ProgramStore>();  // the bound nodes differ, so that no program can be shared
    return bound;
}

uint64_t Interpreter::parameterCount() const {
    return countParameters(model());
}

}  // namespace mnnc
