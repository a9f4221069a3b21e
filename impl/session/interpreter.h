// A loaded model, and what its sessions share: parsed ops and prepared weights. Immutable after creation but
// for the weight store, which locks itself.
#pragma once
#include <memory>

#include "backend/weight_store.h"
#include "base/log.h"
#include "ops/net.h"

namespace mnnc {

struct Interpreter {
    std::shared_ptr<const Net> net;
    std::shared_ptr<WeightStore> weights = std::make_shared<WeightStore>();
    std::shared_ptr<LogSink> log;

    Interpreter(ModelBytes bytes, const ModelOptions& options);

    const Model& model() const noexcept { return *net->model; }
    // Elements of all weights, biases and constants.
    uint64_t parameterCount() const;
};

}  // namespace mnnc
