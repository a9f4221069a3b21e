// The commands of a stage in execution order, with the producers and the consumers of every tensor. Passes
// (plan/passes.h) change the graph through the functions below, which keep both up to date.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/storage_choice.h"
#include "ir/command.h"

namespace mnnc {

// The backend of a command and the storage of its operands (the pass assign-storage).
struct PlannedStorage {
    bool onDevice = false;
    StorageChoice choice;
    // A Raster without work: its output lies in its input, which is stored as `viewed`, from the byte `viewOffset` on.
    bool isView = false;
    Storage viewed;
    int64_t viewOffset = 0;
};

class CommandGraph {
  public:
    // Names a command as long as the graph lives; inserting and erasing other commands does not change it.
    using Id = size_t;
    static constexpr Id kNone = SIZE_MAX;

    // `isLiveOut`: whether something other than the commands of this graph reads a tensor afterwards.
    explicit CommandGraph(std::function<bool(const Operand*)> isLiveOut) : isLiveOut_(std::move(isLiveOut)) {}

    Id append(Command command, double flops, std::string refusal = {});
    // Appends a control flow operator, which no pass changes.
    Id appendControl(OpType type, std::string name, std::vector<Operand*> reads);

    const Command& command(Id id) const { return nodes_[id].command; }
    double flops(Id id) const { return nodes_[id].flops; }
    // Returns why backends of the host, and the device before them, do not compute the command; empty: there are none,
    // or they were not consulted.
    const std::string& refusal(Id id) const { return nodes_[id].refusal; }
    // Valid after assign-storage, like the storages of operands. A command that has replaced others since then gets its
    // own when the pass runs again.
    const PlannedStorage& storage(Id id) const { return nodes_[id].storage; }
    void setStorage(Id id, const PlannedStorage& storage) { nodes_[id].storage = storage; }
    bool isControl(Id id) const { return nodes_[id].control; }
    bool contains(Id id) const { return !nodes_[id].erased; }
    // Returns the present commands in execution order.
    std::vector<Id> ids() const;
    // Returns a number that grows along the execution order. Differences also count commands that were erased since the
    // last insertion.
    size_t position(Id id) const { return nodes_[id].position; }
    bool runsBefore(Id a, Id b) const { return position(a) < position(b); }

    // Returns the only command that writes the tensor; kNone: there is none, or there are several.
    Id producer(const Operand* tensor) const;
    size_t producerCount(const Operand* tensor) const { return usesOf(tensor).producers.size(); }
    // Returns the commands that read the tensor, each once, in execution order.
    const std::vector<Id>& consumers(const Operand* tensor) const { return usesOf(tensor).consumers; }
    bool isLiveOut(const Operand* tensor) const { return isLiveOut_(tensor); }
    // Returns the later command that is the only consumer of the tensor, by one operand. kNone where there is no such
    // command, where the tensor is live-out, or where it has not exactly one producer.
    Id onlyConsumer(const Operand* tensor) const;
    // Returns the same for the result of a command; kNone where the command has not exactly one result.
    Id onlyConsumer(Id id) const {
        return command(id).outputs.size() == 1 ? onlyConsumer(command(id).outputs[0]) : kNone;
    }
    // Returns the earlier command that produces the tensor, if `consumer` is the only consumer; else kNone.
    Id exclusiveProducer(const Operand* tensor, Id consumer) const {
        return onlyConsumer(tensor) == consumer ? producer(tensor) : kNone;
    }

    // Replaces a command; the new one keeps the mark fp32 of the old one.
    void replace(Id id, Command command);
    // Removes a command that `mergedInto` now computes as well; `mergedInto` takes over its FLOPs and its mark fp32.
    void erase(Id id, Id mergedInto);
    Id insertBefore(Id id, Command command, double flops);
    Id insertAfter(Id id, Command command, double flops);

    // Throws Status::Internal where uses and commands disagree, or where a command reads a tensor that only later
    // commands write. Builds with assertions or a sanitizer call it after every pass.
    void verify() const;
    // Returns a line for each command: number, type, name, operands, shapes, epilogue, FLOPs.
    std::string text() const;

  private:
    struct Node {
        Command command;
        double flops = 0;
        std::string refusal = {};
        PlannedStorage storage = {};
        size_t position = 0;
        bool control = false, erased = false;
    };
    struct Uses {
        std::vector<Id> producers, consumers;
        size_t operands = 0;  // operands that read it: a consumer may read it twice
    };

    const Uses& usesOf(const Operand* tensor) const;
    Id add(Node node, size_t position);
    void connect(Id id);
    void disconnect(Id id);

    std::function<bool(const Operand*)> isLiveOut_;
    std::deque<Node> nodes_;  // [Id]
    std::vector<Id> order_;   // [position], including erased ones
    std::unordered_map<const Operand*, Uses> uses_;
    const Uses unused_;
};

}  // namespace mnnc
