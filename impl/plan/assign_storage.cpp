// The pass assign-storage: chooses a backend and a storage for every command, in execution order, because a backend
// chooses by the storage of the inputs.
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "plan/device_choice.h"
#include "plan/passes.h"
#include "plan/raster_views.h"

namespace mnnc {

namespace {

class StorageAssignment {
  public:
    StorageAssignment(CommandGraph& graph, const PlanContext& context) : graph_(graph), context_(context) {}

    void run() {
        for (const CommandGraph::Id id : graph_.ids()) {
            if (graph_.isControl(id)) continue;
            const Command& command = graph_.command(id);
            for (Operand* input : command.inputs)
                if (graph_.producerCount(input) > 0 && !made_.contains(input)) before_.emplace(input, *input);
            graph_.setStorage(id, assign(command));
            made_.insert(command.outputs.begin(), command.outputs.end());
        }
        // A variable has this storage until its producer runs.
        for (const auto& [operand, storage] : before_) static_cast<Storage&>(*operand) = storage;
    }

  private:
    PlannedStorage assign(const Command& command) {
        PlannedStorage planned;
        if (const std::optional<RasterView> view = rasterView(command, viewRules())) {
            planned.isView = true;
            planned.viewed = view->input;
            planned.viewOffset = view->offset;
            Operand& output = *command.outputs[0];
            output.channelBlock = view->input.channelBlock;
            output.onDevice = view->input.onDevice;
            if (liesOutside(command.inputs[0])) outside_.insert(&output);
            if (isOverwritten(command.inputs[0])) overwritten_.insert(&output);
            return planned;
        }
        std::string reason;
        planned.onDevice = context_.device() && deviceTakes(*context_.device(), command, reason);
        planned.choice = choose(planned.onDevice ? *context_.device() : context_.cpu, command, planned.onDevice);
        for (Operand* output : command.outputs) {
            // The host reads what is live-out.
            const bool staysOnDevice = planned.onDevice && !graph_.isLiveOut(output);
            output->onDevice = staysOnDevice;
            output->channelBlock = planned.onDevice && !staysOnDevice ? 1 : planned.choice.outputBlock;
        }
        return planned;
    }

    // Returns the choice for operands in the storage in which that backend gets them.
    static StorageChoice choose(const Backend& backend, const Command& command, bool onDevice) {
        std::deque<Operand> arriving;
        Command seen;
        for (size_t i = 0; i < command.inputs.size(); ++i) {
            const Operand& input = *command.inputs[i];
            const bool isReshaped = command.epilogue.residual && i + 1 == command.inputs.size() &&
                                    !(input.shape == command.outputs[0]->shape);
            if (!isReshaped && (onDevice || !input.onDevice)) continue;
            if (arriving.empty()) seen = command;
            Operand& copy = arriving.emplace_back(input);
            static_cast<Storage&>(copy) = {1, onDevice};
            if (isReshaped) copy.shape = command.outputs[0]->shape;
            seen.inputs[i] = &copy;
        }
        return feasibleStorage(backend, arriving.empty() ? command : seen);
    }

    bool liesOutside(const Operand* tensor) const {
        return outside_.contains(tensor) || (context_.isFromOutside && context_.isFromOutside(tensor));
    }

    bool isOverwritten(const Operand* tensor) const {
        return overwritten_.contains(tensor) || (context_.isVariable && context_.isVariable(tensor));
    }

    ViewRules viewRules() const {
        return {context_.device() != nullptr, [this](const Operand* tensor) { return graph_.isLiveOut(tensor); },
                [this](const Operand* tensor) { return liesOutside(tensor); },
                [this](const Operand* tensor) { return isOverwritten(tensor); }};
    }

    CommandGraph& graph_;
    const PlanContext& context_;
    std::unordered_set<const Operand*> made_, outside_, overwritten_;  // views of tensors from outside, of variables
    std::unordered_map<Operand*, Storage> before_;  // storages of tensors that commands read before their producer
};

}  // namespace

void assignStorage(CommandGraph& graph, const PlanContext& context) {
    StorageAssignment(graph, context).run();
}

}  // namespace mnnc
