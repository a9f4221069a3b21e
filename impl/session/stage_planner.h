// Second half of planning a stage: commands become steps. Decides for every command which backend runs it and for every
// tensor how and where it is stored, inserts conversions and copies, makes executions, plans memory from lifetimes.
//   stage_planner.cpp        backends and steps
//   storage_conversions.cpp  conversions between storages, copies to and from a device
//   copy_elision.cpp         views, concatenations in place, results in the memory of an input
//   plan_memory.cpp          lifetimes, arenas, recording
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "backend/memory_plan.h"
#include "session/encoder.h"
#include "session/op_record.h"
#include "session/stage_memory.h"

namespace mnnc {

class StagePlanner {
  public:
    using Predicate = std::function<bool(const Tensor*)>;

    // `staysAlive`: tensors read after the stage. `onHost`: tensors with consumers that are no commands; they lie
    // in host memory once the step that produces them is done.
    StagePlanner(SessionContext& context, StageEncoder& encoder, StageMemory& memory, Predicate staysAlive,
                 Predicate onHost)
        : context_(context),
          encoder_(encoder),
          memory_(memory),
          staysAlive_(std::move(staysAlive)),
          onHost_(std::move(onHost)) {}

    // Appends the step (or steps, with conversions) of one command.
    void add(const EncodedCommand& encoded);
    // A position in the order at which control flow runs, which reads and writes tensors of other memory.
    void addControl(const std::vector<Tensor*>& reads);
    // Plans and binds memory, then records what runs on a device.
    void finish();

    struct Step {
        std::unique_ptr<Execution> execution;  // null: control
        Command command;
        bool onDevice = false;
        std::vector<OpCall> calls = {};  // what the step does; more than one where a device takes a run
    };
    std::vector<Step> steps;

  private:
    struct Storage {
        int pack = 1;
        bool onDevice = false;
        bool operator==(const Storage&) const = default;
        bool operator<(const Storage& other) const {
            return std::tie(pack, onDevice) < std::tie(other.pack, other.onDevice);
        }
    };
    struct Arena;

    static Storage storageOf(const Tensor& tensor) { return {tensor.pack, tensor.onDevice}; }
    Tensor* convertTo(Tensor* tensor, Storage wanted);
    Tensor* findConverted(Tensor* source, Storage storage) const;
    Tensor* findOnDevice(Tensor* source) const;
    Tensor* shareOnDevice(Tensor* tensor);
    Tensor* cloneDescriptor(const Tensor& of, Storage storage);
    Tensor* shareStorage(Tensor* of, const Tensor& like, int pack);
    bool shareIdentity(const Command& command);
    bool shareRange(const Command& command);
    void concatInPlace();
    void computeInPlace();
    bool canRunInPlace(const Step& step, size_t output, size_t input) const;
    bool concatInto(const Command& command, const std::set<const Tensor*>& planned);
    bool assignTo(Backend& backend, const EncodedCommand& encoded, std::string& reason,
                  const std::string& whyNot);
    void changePack(Tensor* from, Tensor* to);
    void upload(Tensor* from, Tensor* to);
    void download(Tensor* from, Tensor* to);
    void pushInserted(std::unique_ptr<Execution> execution, Command command, bool onDevice);
    void pushCopy(std::unique_ptr<Execution> execution, Tensor* from, Tensor* to, bool once);
    void bindFixed(const std::vector<Tensor*>& tensors, BudgetedBlock& memory, const char* what);
    void record();

    SessionContext& context_;
    StageEncoder& encoder_;
    StageMemory& memory_;
    const Predicate staysAlive_, onHost_;
    std::map<std::pair<const Tensor*, Storage>, Tensor*> converted_;
    std::vector<Tensor*> shared_;               // tensors with aliasOf
    std::vector<Tensor*> uploads_, downloads_;  // host tensors in memory that the device sees
    std::vector<Tensor*> constants_;            // on the device, written once
    std::vector<std::unique_ptr<Execution>> once_;
};

}  // namespace mnnc
