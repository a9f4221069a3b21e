// A loaded model with all that its sessions share: parsed operators and prepared weights. Immutable after creation
// except for the stores of weights and programs, which have locks.
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
    // Takes constants that sessions wrote (session/model_update.h) in place of the model's.
    Interpreter(std::shared_ptr<const Net> updated, std::shared_ptr<WeightStore> shared)
        : net(std::move(updated)), weights(std::move(shared)) {}

    // Returns the same model with nodes that are bound to operators of the host; it shares the prepared weights.
    std::shared_ptr<const Interpreter> withOperators(const HostOperators& operators) const;

    const Model& model() const noexcept { return *net->model; }
    // Counts the elements of all weights, biases and constants.
    uint64_t parameterCount() const;
};

}  // namespace mnnc
