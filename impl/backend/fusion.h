// Composite fusions: groups of commands that a backend computes at once. A pattern finds such groups in a graph and
// makes their executions; the pass fuse-composites (plan/) replaces each group by one command of type Fused.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/execution.h"
#include "backend/storage_choice.h"
#include "ir/command.h"

namespace mnnc {

class Backend;
class CommandGraph;

// A group of commands of one result each, by their ids, each once, in execution order. The fused command runs at the
// place of the last one.
struct FusionMatch {
    std::vector<size_t> members;
    std::shared_ptr<void> prepared;  // what `create` needs and `match` has made already; may be null
};

struct FusionPattern {
    const char* name;  // the type name of the fused commands
    // The groups in the graph that are worth fusing, whose storage is planned (CommandGraph::storage). No command is in
    // two of them. Only the last member has results that are live-out, every consumer of another member's results is a
    // member or runs after the last one, and no tensor that a member reads is written between that member and the last.
    std::vector<FusionMatch> (*match)(const CommandGraph& graph, const Backend& backend);
    StorageChoice (*storage)(const Backend& backend, const Command& fused);
    // May return null and fill `reason`.
    std::unique_ptr<Execution> (*create)(Backend& backend, const Command& fused, std::string& reason);
};

// One command of a group. Values are numbered: the inputs of the fused command first, then the results of the steps.
struct FusedStep {
    OpType type = OpType::Raster;
    std::string name;
    ParamsPtr params;
    Epilogue epilogue;
    std::vector<Region> regions;   // of a Raster; their inputs count the operands
    std::vector<size_t> operands;  // numbers of values
    // The result.
    Shape shape;
    DataType dataType = DataType::Float32;
    Format format = Format::NCHW;
};

// Parameters of a Fused command: no tensor of a session, so that they may be read by anyone.
struct FusedParams : ParamsOf<FusedParams> {
    const FusionPattern* pattern = nullptr;
    std::vector<FusedStep> steps;    // in an order in which they can run
    std::vector<size_t> results;     // for each output of the command the step that makes it, ascending
    std::shared_ptr<void> prepared;  // FusionMatch::prepared
};

// The steps of a fused command as commands over tensors: the fused command's own, and for each value that only the
// steps see one that has a shape and no memory.
class FusedBody {
  public:
    explicit FusedBody(const Command& fused);
    FusedBody(const FusedBody&) = delete;
    FusedBody& operator=(const FusedBody&) = delete;

    const std::vector<Command>& steps() const noexcept { return steps_; }

  private:
    std::deque<Operand> inner_;
    std::vector<Command> steps_;
};

// The pattern of that name in the list, or null.
const FusionPattern* findPattern(std::span<const FusionPattern* const> patterns, const char* name) noexcept;

// The name of the command's operator; of a Fused one, its pattern's. "?" for an unknown number.
const char* typeName(const Command& command);

}  // namespace mnnc
