// A subgraph that a control node calls: its pipeline, and its formal inputs and outputs by name.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

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
    // These return -1 where there is none. Of several with one name they return the first.
    int findInput(const std::string& name) const { return placeOf(name, inputPlaces_); }
    int findOutput(const std::string& name) const { return placeOf(name, outputPlaces_); }
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
    void run() {
        pipeline_->run();
        pipeline_->commitVariables();
    }
    Located output(size_t index) const {
        const Operand& tensor = pipeline_->output(index);
        return {tensor, pipeline_->data(tensor)};
    }

  private:
    // By names that belong to the model. A hostile file may look very many names up.
    using Places = std::unordered_map<std::string_view, int>;

    static int placeOf(const std::string& name, const Places& places);

    std::unique_ptr<Pipeline> pipeline_;
    Places inputPlaces_, outputPlaces_;
};

}  // namespace mnnc
