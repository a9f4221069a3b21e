// Composite fusions: groups of commands that a backend computes at once. A pattern finds such groups in a graph and
// makes their executions; the pass fuse-composites (plan/fuse_composites.cpp) replaces each group by one command of
// type Fused.
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

// A group of commands with one result each: their ids, each once, in execution order. The fused command runs at the
// place of the last one.
struct FusionMatch {
    std::vector<size_t> members;
    std::shared_ptr<void> prepared;  // state that `match` made for `create`; may be null
};

struct FusionPattern {
    const char* name;  // the type name of the fused commands
    // Finds the groups in the graph that are worth fusing; the storage of the graph is planned (CommandGraph::storage).
    // No command is in two groups. Only the last member may have live-out results. Every consumer of another member's
    // results is a member or runs after the last one. No tensor that a member reads is written between that member and
    // the last.
    std::vector<FusionMatch> (*match)(const CommandGraph& graph, const Backend& backend);
    StorageChoice (*storage)(const Backend& backend, const Command& fused);
    // May return null and fill `reason`.
    std::unique_ptr<Execution> (*create)(Backend& backend, const Command& fused, std::string& reason);
};

// One command of a group. Values have numbers: first the inputs of the fused command, then the results of the steps.
struct FusedStep {
    OpType type = OpType::Raster;
    std::string name;
    ParamsPtr params;
    Epilogue epilogue;
    std::vector<Region> regions;   // for a Raster; the regions number the operands
    std::vector<size_t> operands;  // numbers of values
    // The result.
    Shape shape;
    DataType dataType = DataType::Float32;
    Format format = Format::NCHW;
};

// Parameters of a Fused command. They refer to no tensor of a session, so that several sessions can share them.
struct FusedParams : ParamsOf<FusedParams> {
    const FusionPattern* pattern = nullptr;
    std::vector<FusedStep> steps;    // in an order in which they can run
    std::vector<size_t> results;     // for each output of the command, the step that produces it; ascending
    std::shared_ptr<void> prepared;  // FusionMatch::prepared
};

// Makes commands over tensors of the steps of a fused command, for code that takes commands. The tensors are those of
// the fused command, and for each value between steps one that has a shape but no memory.
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

// Returns the pattern with this name in the list, or null.
const FusionPattern* findPattern(std::span<const FusionPattern* const> patterns, const char* name) noexcept;

// Returns the name of the command's operator; for a Fused one, its pattern's name. "?": the number is unknown.
const char* typeName(const Command& command);

}  // namespace mnnc
