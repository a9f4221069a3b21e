// The tensors of a graph as they are now: what the plans in use make of those that operators make, and for all others
// what the pipeline knows: inputs, constants, results of control flow.
#pragma once
#include <memory>
#include <vector>

#include "backend/frame.h"
#include "net/net.h"
#include "schedule/schedule.h"
#include "session/planning_frame.h"
#include "tensor/operand.h"

namespace mnnc {

class GraphTensors {
  public:
    GraphTensors(const NetGraph& net, const GraphSchedule& schedule, OperandNumbers& numbers)
        : planning{numbers},
          frame(numbers.end()),
          net_(net),
          schedule_(schedule),
          own_(net.source->tensorNames.size() + schedule.furtherLike.size()),
          planned_(own_.size()) {}
    GraphTensors(const GraphTensors&) = delete;
    GraphTensors& operator=(const GraphTensors&) = delete;

    size_t count() const noexcept { return own_.size(); }
    // A tensor that nothing has made says nothing, but for the name of one that own() was asked for.
    const Operand& operator[](int id) const noexcept {
        const auto i = static_cast<size_t>(id);
        return planned_[i] ? *planned_[i] : own_[i] ? *own_[i] : none_;
    }
    // Where the elements lie on the host; null: they lie nowhere there now.
    const void* data(const Operand& tensor) const noexcept {
        return tensor.values ? tensor.values : frame.data<void>(tensor);
    }
    // A plan that comes into use makes the tensor so; null: none does.
    void setPlanned(int id, const Operand* tensor) noexcept { planned_[static_cast<size_t>(id)] = tensor; }
    // The tensor as the pipeline has it, for all but those that operators make.
    Operand& own(int id) {
        std::unique_ptr<Operand>& tensor = own_[static_cast<size_t>(id)];
        if (!tensor) tensor = std::make_unique<Operand>(blank(id));
        return *tensor;
    }
    // The same; of a tensor that operators make its name and what the model says.
    Operand declared(int id) const {
        const std::unique_ptr<Operand>& tensor = own_[static_cast<size_t>(id)];
        return tensor ? *tensor : blank(id);
    }
    // Whether a number is that of a tensor of the graph.
    bool isOfGraph(int number) const noexcept { return number > 0 && static_cast<size_t>(number) <= own_.size(); }

    PlanningFrame planning;
    Frame frame;

  private:
    Operand blank(int id) const {
        Operand tensor;
        tensor.number = id + 1;
        const std::vector<std::string>& names = net_.source->tensorNames;
        auto of = static_cast<size_t>(id);
        if (of >= names.size()) {
            const int like = schedule_.furtherLike[of - names.size()];
            if (like < 0) return tensor;
            of = static_cast<size_t>(like);
        }
        tensor.name = names[of];
        if (of < net_.quants.size()) tensor.quant = net_.quants[of];
        return tensor;
    }

    const NetGraph& net_;
    const GraphSchedule& schedule_;
    std::vector<std::unique_ptr<Operand>> own_;  // by id
    std::vector<const Operand*> planned_;
    const Operand none_;
};

// A tensor, and where its elements lie on the host.
struct Located {
    const Operand& tensor;
    const void* data;
};

}  // namespace mnnc
