// The contract every backend keeps. A Runtime holds what several sessions share (threads, devices); a Backend
// is one session's view of it: it says how it wants tensors stored and makes Executions.
#pragma once
#include <memory>
#include <string>

#include "backend/execution.h"
#include "backend/weight_store.h"
#include "ops/command.h"

namespace mnnc {

enum class ForwardType : int32_t { Cpu = 0, Auto = 4, Vulkan = 7 };
enum class Precision : int32_t { Normal = 0, High = 1, Low = 2 };
enum class MemoryMode : int32_t { Normal = 0, High = 1, Low = 2 };

struct BackendConfig {
    int threads = 1;
    Precision precision = Precision::Normal;
    MemoryMode memory = MemoryMode::Normal;
    std::string cpuIsa;  // "" = the best the CPU has
    int64_t maxMemoryBytes = INT64_MAX;
};

// How a command wants its tensors stored. Storage is chosen by the producer; the pipeline inserts a
// conversion where a consumer wants something else.
struct StorageChoice {
    int inputPack = 1;         // of every input not in plainInputs
    int outputPack = 1;        // of every output
    uint32_t plainInputs = 0;  // bit i: input i is wanted (or accepted) row-major, whatever inputPack says

    bool wantsPlain(size_t input) const noexcept { return input < 32 && ((plainInputs >> input) & 1u); }
};

class DeviceBackend;

class Backend {
  public:
    virtual ~Backend() = default;
    virtual const char* name() const noexcept = 0;
    // Whether create() will take the command, as far as its parameters, shapes and types tell; if not,
    // `reason` gets a sentence. Makes nothing.
    virtual bool supports(const Command& command, std::string& reason) const = 0;
    // The storage this backend wants for a command whose inputs are stored as their `pack` says now.
    virtual StorageChoice chooseStorage(const Command& command) const = 0;
    // An execution, or null with a sentence in `reason` when this backend does not take the command.
    virtual std::unique_ptr<Execution> create(const Command& command, std::string& reason) = 0;
    // This backend as one with memory of its own; null: its tensors are the host's.
    virtual DeviceBackend* device() noexcept { return nullptr; }
    // Around every run of a session: lease and release of threads.
    virtual void onRunBegin() noexcept {}
    virtual void onRunEnd() noexcept {}
};

// What the backend wants, or everything row-major when one tensor of the command cannot be packed.
StorageChoice feasibleStorage(const Backend& backend, const Command& command);

class Runtime {
  public:
    virtual ~Runtime() = default;
    virtual std::unique_ptr<Backend> createBackend(const BackendConfig& config, WeightStore& weights) = 0;
};

}  // namespace mnnc
