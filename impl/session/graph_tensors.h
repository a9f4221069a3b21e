// The present tensors of a graph. Plans in use define those that operators produce; the pipeline defines all others:
// inputs, constants, results of control flow.
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
    // A tensor without a producer is an empty description; it has a name only where own() was called for it.
    const Operand& operator[](int id) const noexcept {
        const auto i = static_cast<size_t>(id);
        return planned_[i] ? *planned_[i] : own_[i] ? *own_[i] : none_;
    }
    // Returns the address of the elements on the host; null: they are not there now.
    const void* data(const Operand& tensor) const noexcept {
        return tensor.values ? tensor.values : frame.data<void>(tensor);
    }
    // Takes the tensor over from a plan that comes into use; null: no plan defines it.
    void setPlanned(int id, const Operand* tensor) noexcept { planned_[static_cast<size_t>(id)] = tensor; }
    // Returns the pipeline's own tensor, for all tensors but those that operators produce.
    Operand& own(int id) {
        std::unique_ptr<Operand>& tensor = own_[static_cast<size_t>(id)];
        if (!tensor) tensor = std::make_unique<Operand>(blank(id));
        return *tensor;
    }
    // Returns a copy of the same without adding it; for a tensor that operators produce, it has the name and the
    // model's description.
    Operand declared(int id) const {
        const std::unique_ptr<Operand>& tensor = own_[static_cast<size_t>(id)];
        return tensor ? *tensor : blank(id);
    }
    // Returns whether a number belongs to a tensor of the graph.
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

// A tensor and the address of its elements on the host.
struct Located {
    const Operand& tensor;
    const void* data;
};

}  // namespace mnnc
