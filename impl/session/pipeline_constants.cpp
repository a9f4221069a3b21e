// Constants that a session has changed for itself, and the operators that read them.
#include <algorithm>
#include <cstring>

#include "ops/control.h"
#include "session/pipeline.h"
#include "tensor/stored_content.h"

namespace mnnc {

bool Pipeline::reads(int id) const {
    const auto named = [&](const std::vector<int>& ids) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
    return named(schedule_.outputs) || std::any_of(schedule_.ops.begin(), schedule_.ops.end(),
                                                   [&](const ScheduledOp& op) { return named(op.node->inputs); });
}

void Pipeline::markRead(std::vector<bool>& read) const {
    for (const int id : schedule_.outputs) read[static_cast<size_t>(id)] = true;
    for (const ScheduledOp& op : schedule_.ops)
        for (const int id : op.node->inputs)
            if (id >= 0 && static_cast<size_t>(id) < read.size()) read[static_cast<size_t>(id)] = true;
}

void* Pipeline::ownConstant(int id) {
    if (const auto own = ownConstants_.find(id); own != ownConstants_.end()) return own->second.data();
    Operand& tensor = tensors_.own(id);
    const int64_t bytes = tensor.storageBytes();
    std::shared_ptr<const void> stored;
    if (bytes > 0 && !tensor.values) stored = tensor.stored->load();
    BudgetedBuffer memory(context_);
    void* own = memory.reserve(bytes, "a constant of the session");
    if (bytes > 0) std::memcpy(own, tensor.values ? tensor.values : stored.get(), static_cast<size_t>(bytes));
    ownConstants_.emplace(id, std::move(memory));
    tensor.values = own;
    tensor.stored = nullptr;
    tensor.content = nullptr;
    return own;
}

std::vector<int> Pipeline::ownConstants() const {
    std::vector<int> ids;
    for (const auto& [id, memory] : ownConstants_) ids.push_back(id);
    return ids;
}

// The weight store finds prepared weights by the parameters of their operator: these operators get new ones, so that it
// does not find weights of the old values.
void Pipeline::constantsChanged(const std::set<int>& ids) {
    for (size_t i = 0; i < schedule_.ops.size(); ++i) {
        ScheduledOp& op = schedule_.ops[i];
        const std::vector<int>& inputs = op.node->inputs;
        const bool readsThem =
            std::any_of(inputs.begin(), inputs.end(), [&](int input) { return ids.count(input) > 0; });
        if (!readsThem || runsSubgraphs(*op.node) || op.ownParams) continue;
        ParamsPtr params = renewedParams(*context_.net, static_cast<size_t>(schedule_.graph), *op.origin);
        std::unique_ptr<Node>& own = renewedNodes_[i];
        if (!own) own = std::make_unique<Node>(*op.node);
        own->params = std::move(params);
        op.node = own.get();
    }
    stale_ = true;
    kept_.clear();
}

}  // namespace mnnc
