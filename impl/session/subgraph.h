// A subgraph that a control node calls: its pipeline, and its formal inputs and outputs by name.
#pragma once
#include <string>

#include "session/pipeline.h"
#include "session/value.h"

namespace mnnc {

class Subgraph {
  public:
    // Takes all outputs of the graph. Throws NotFound when there is no such graph.
    Subgraph(SessionContext& context, const std::string& name, const char* caller);

    Pipeline& pipeline() noexcept { return *pipeline_; }
    const Pipeline& pipeline() const noexcept { return *pipeline_; }
    size_t inputs() const noexcept { return pipeline_->inputCount(); }
    size_t outputs() const noexcept { return pipeline_->outputCount(); }
    int findInput(const std::string& name) const;   // -1: none
    int findOutput(const std::string& name) const;  // -1: none
    // Returns whether an output is the unchanged input `input`.
    bool passesThrough(size_t input, size_t output) const {
        return pipeline_->inputId(input) == pipeline_->outputId(output);
    }

    // Inputs are set in two steps, because memory exists only after planning: describe all of them, call prepare(),
    // then fill them.
    void describe(size_t input, const Operand& like) {
        pipeline_->describeInput(input, like.shape, like.type, like.format, like.list);
    }
    void fill(size_t input, const Located& from) {
        copyToHost(from.tensor, from.data, pipeline_->inputData(input), rowMajor(from.tensor));
    }
    Located output(size_t index) const {
        const Operand& tensor = pipeline_->output(index);
        return {tensor, pipeline_->data(tensor)};
    }

  private:
    std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace mnnc
