// One graph on the session's backend: its tensors and its stages. The main net is one; so is every body of If
// and While.
#pragma once
#include <memory>
#include <vector>

#include "plan/op_record.h"
#include "schedule/schedule.h"
#include "session/budgeted_buffer.h"
#include "session/session_context.h"
#include "session/stage.h"

namespace mnnc {

class ControlNode;

class Pipeline {
  public:
    // `outputs` are tensor ids of the graph. Throws what scheduling throws (unsupported operators are named).
    Pipeline(SessionContext& context, int graph, const std::vector<int>& outputs);
    ~Pipeline();

    size_t inputCount() const noexcept { return inputIds_.size(); }
    Tensor& input(size_t index) noexcept { return tensors_[static_cast<size_t>(inputIds_[index])]; }
    size_t outputCount() const noexcept { return schedule_.outputs.size(); }
    const Tensor& output(size_t index) const noexcept {
        return tensors_[static_cast<size_t>(schedule_.outputs[index])];
    }
    int outputId(size_t index) const noexcept { return schedule_.outputs[index]; }
    int inputId(size_t index) const noexcept { return inputIds_[index]; }

    // Sets what an input is; a difference marks the pipeline for planning.
    void describeInput(size_t index, const Shape& shape, DataType type, Format format,
                       const std::shared_ptr<const TensorList>& list = nullptr);
    // Plans the first stage when it is marked (input memory included). Later stages are planned by run(). When it fails,
    // the inputs and the plan are as they were before they were described anew, wherever Stage::plan() allows.
    void prepare();
    bool prepared() const noexcept { return !stages_.empty() && stages_[0]->planned(); }
    // Whether all shapes are known before a run.
    bool singleStage() const noexcept { return stages_.size() == 1 && controls_.empty(); }
    void run();

    void appendRecords(std::vector<OpRecord>& records) const;
    int64_t arenaBytes() const;

  private:
    void loadConstants(const NetGraph& net);

    SessionContext& context_;
    GraphSchedule schedule_;
    std::vector<Tensor> tensors_;
    std::vector<std::shared_ptr<const void>> constants_;  // read from the file for this pipeline
    std::vector<int> inputIds_;
    std::vector<BudgetedBuffer> inputMemory_;
    std::vector<Tensor> plannedInputs_;  // as of the last plan of the first stage
    std::vector<std::unique_ptr<ControlNode>> controls_;
    std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace mnnc
