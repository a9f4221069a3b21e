// A loaded model, and what its sessions share: parsed ops and prepared weights. Immutable after creation but
// for the weight store, which locks itself.
#pragma once
#include <memory>
#include <utility>

#include "backend/weight_store.h"
#include "base/log.h"
#include "net/custom.h"
#include "session/shared_programs.h"

namespace mnnc {

struct Interpreter {
    std::shared_ptr<const Net> net;
    std::shared_ptr<WeightStore> weights = std::make_shared<WeightStore>();
    std::shared_ptr<ProgramStore> programs = std::make_shared<ProgramStore>();
    std::shared_ptr<LogSink> log;

    Interpreter(ModelBytes bytes, const ModelOptions& options);
    // With constants that sessions wrote (session/model_update.h) in place of the model's.
    Interpreter(std::shared_ptr<const Net> updated, std::shared_ptr<WeightStore> shared)
        : net(std::move(updated)), weights(std::move(shared)) {}

    // The same model, whose nodes are bound to operators of the host. Shares the prepared weights.
    std::shared_ptr<const Interpreter> withOperators(const HostOperators& operators) const;

    const Model& model() const noexcept { return *net->model; }
    // Elements of all weights, biases and constants.
    uint64_t parameterCount() const;
};

}  // namespace mnnc
