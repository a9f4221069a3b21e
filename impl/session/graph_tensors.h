// The tensors of a graph as they are now: what the plans in use make of those that operators make, and for all others what the
// pipeline knows: inputs, constants, results of control flow.
#pragma once
#include <vector>

#include "backend/frame.h"
#include "session/planning_frame.h"
#include "tensor/tensor.h"

namespace mnnc {

class GraphTensors {
  public:
    explicit GraphTensors(size_t count)
        : own(count), planning(count), frame(planning.numbers.end()), planned_(count) {
        for (size_t i = 0; i < count; ++i) own[i].number = static_cast<int>(i) + 1;
    }
    GraphTensors(const GraphTensors&) = delete;
    GraphTensors& operator=(const GraphTensors&) = delete;

    const Tensor& operator[](int id) const noexcept {
        const auto i = static_cast<size_t>(id);
        return planned_[i] ? *planned_[i] : own[i];
    }
    // Where the elements lie on the host; null: they lie nowhere there now.
    const void* data(const Tensor& tensor) const noexcept {
        return tensor.values ? tensor.values : frame.data<void>(tensor);
    }
    // A plan that comes into use makes the tensor so; null: none does.
    void setPlanned(int id, const Tensor* tensor) noexcept { planned_[static_cast<size_t>(id)] = tensor; }
    // Whether a number is that of a tensor of the graph.
    bool isOfGraph(int number) const noexcept {
        return number > 0 && static_cast<size_t>(number) <= own.size();
    }

    // Of a tensor that an operator makes the name and what the model says.
    std::vector<Tensor> own;
    PlanningFrame planning;
    Frame frame;

  private:
    std::vector<const Tensor*> planned_;  // by id
};

// A tensor, and where its elements lie on the host.
struct Located {
    const Tensor& tensor;
    const void* data;
};

}  // namespace mnnc
