// The interface of all backends. A Runtime holds the resources that several sessions share (threads, devices); a
// Backend is one session's view of it, which chooses the storage of tensors and makes Executions.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/device_limits.h"
#include "backend/execution.h"
#include "backend/fusion.h"
#include "backend/storage_choice.h"
#include "backend/thread_pool.h"
#include "backend/weight_store.h"
#include "ir/command.h"

namespace mnnc {

enum class ForwardType : int32_t { Cpu = 0, Auto = 4, Vulkan = 7 };
enum class Precision : int32_t { Normal = 0, High = 1, Low = 2 };
enum class MemoryMode : int32_t { Normal = 0, High = 1, Low = 2 };
// Cores for workers. High: the fastest; Low: the slowest.
enum class Power : int32_t { Normal = 0, High = 1, Low = 2 };

struct SharedRuntime;

// A device that a backend found, as the host sees it.
struct DeviceTraits {
    uint8_t uuid[16] = {};
    uint32_t apiVersion = 0, driverVersion = 0, vendorId = 0, deviceId = 0;
    uint64_t memoryBytes = 0;
    bool fp16Storage = false, fp16Arithmetic = false, subgroupArithmetic = false;
    uint32_t subgroupSize = 0;
};

struct DeviceDescription : DeviceTraits {
    std::string name, driver, kind;  // kind: "discrete", "integrated", "virtual", "cpu", "other"
};

// How many variants of an operator a GPU measures.
enum class GpuTuning : uint8_t { None, Fast, Normal, Wide, Heavy };

struct BackendConfig {
    int threads = 1;
    Precision precision = Precision::Normal;
    MemoryMode memory = MemoryMode::Normal;
    std::string cpuIsa;  // "" = the best the CPU has
    int64_t maxMemoryBytes = INT64_MAX;
    std::string device;           // index, UUID or a part of the name; "" = the best
    bool softwareDevices = true;  // false: a driver that computes on the CPU is never chosen as the best
    bool recordBatch = true;      // several executions in one recorded command buffer
    GpuTuning tuning = GpuTuning::None;
    int tuningOperators = 0;                 // the maximum number of operators that the session measures; 0: all
    std::vector<std::string> fp32Operators;  // names of nodes for which Precision::Low means Normal
    DeviceLimits deviceLimits;
    Power power = Power::Normal;                  // cores for workers that the session makes for itself
    std::shared_ptr<const SharedRuntime> shared;  // null: the session makes its own resources

    bool operator==(const BackendConfig&) const = default;
};

// The settings in effect. They differ from the configuration where it asks for something that the backend lacks. The
// texts are constant.
struct EffectiveSettings {
    Precision precision = Precision::Normal;
    const char* precisionReason = nullptr;  // why it is not the wanted precision; null: it is
    MemoryMode memory = MemoryMode::Normal;
    const char* memoryReason = nullptr;
    int threads = 1;
    const char* isa = nullptr;  // the instruction set of the host's kernels
    std::string device;         // the name of a device; "" on the host
    GpuTuning tuning = GpuTuning::None;
};

class DeviceBackend;

class Backend {
  public:
    virtual ~Backend() = default;
    virtual const char* name() const noexcept = 0;
    virtual EffectiveSettings settings() const { return {}; }
    // Whether create() will take the command, judged by its parameters, shapes and types; if not, `reason` gets a
    // sentence. Allocates nothing.
    virtual bool supports(const Command& command, std::string& reason) const = 0;
    // Whether create() takes this command with its epilogue whenever it takes it without one.
    virtual bool supportsPostOps(const Command&) const { return false; }
    // Whether create() takes this command with its operand views whenever it takes it without them.
    virtual bool supportsViews(const Command&) const { return false; }
    // Groups of commands that this backend computes at once, in the order in which the pass searches for them.
    virtual std::span<const FusionPattern* const> patterns() const noexcept { return {}; }
    // Whether create() takes this float command also over int8 tensors that represent the same values (a convolution as
    // ConvInt8 or DepthwiseConvInt8). Its tensors carry their scales.
    virtual bool canQuantize(const Command&) const { return false; }
    // Whether int8 tensors may be channel-packed as well.
    virtual bool packsInt8() const noexcept { return false; }
    // Bit i: executions of commands of this kind load a large constant input i themselves (Tensor::stored), because
    // they prepare it once and do not read it afterwards.
    virtual uint32_t loadsInputs(OpType) const noexcept { return 0; }
    // The algorithm for all of these convolutions over packed channels, which share a constant as their weights, so
    // that one packed form is enough; the backend defines the numbers. 0: each convolution uses its own best algorithm.
    virtual int commonAlgorithm(std::span<const Command* const>) const { return 0; }
    // The wanted storage for a command whose inputs are stored as their `channelBlock` says at present.
    virtual StorageChoice chooseStorage(const Command& command) const = 0;
    // Whether floats have 16 bits in this backend's memory, except for marked tensors (Storage::wide).
    virtual bool narrowsFloats() const noexcept { return false; }
    // Makes an execution; null, with a sentence in `reason`, when this backend does not take the command.
    virtual std::unique_ptr<Execution> create(const Command& command, std::string& reason) = 0;
    // Returns this object if the backend has memory of its own; null: its tensors lie in the host's memory.
    virtual DeviceBackend* device() noexcept { return nullptr; }
    // Returns prepared state that a later process may use again; empty: there is none.
    virtual std::vector<uint8_t> cache() const { return {}; }
    // The threads for runs, leased for each whole run (RunLease); null: a device computes.
    virtual ThreadPool* runPool() const noexcept { return nullptr; }
    // Makes executions prepare on these threads, which are already leased; null: on the backend's own threads.
    virtual void prepareOn(ThreadPool*) noexcept {}
};

// The storage that the backend wants; everything row-major when one tensor of the command cannot be packed.
StorageChoice feasibleStorage(const Backend& backend, const Command& command);

class Runtime {
  public:
    virtual ~Runtime() = default;
    virtual std::unique_ptr<Backend> createBackend(const BackendConfig& config, WeightStore& weights) = 0;
    // Offers the state that an earlier process prepared (Backend::cache). Returns false, and changes nothing, when it
    // does not fit.
    virtual bool setCache(const std::vector<uint8_t>&) { return false; }
};

}  // namespace mnnc
