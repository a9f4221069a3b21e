// The contract every backend keeps. A Runtime holds what several sessions share (threads, devices); a Backend
// is one session's view of it: it says how it wants tensors stored and makes Executions.
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
// Which cores workers run on. High: the fastest; Low: the slowest.
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

// How many ways of computing an operator a GPU measures.
enum class GpuTuning : uint8_t { None, Fast, Normal, Wide, Heavy };

struct BackendConfig {
    int threads = 1;
    Precision precision = Precision::Normal;
    MemoryMode memory = MemoryMode::Normal;
    std::string cpuIsa;  // "" = the best the CPU has
    int64_t maxMemoryBytes = INT64_MAX;
    std::string device;           // index, UUID or a part of the name; "" = the best
    bool softwareDevices = true;  // false: a driver that computes on the CPU is not taken as the best
    bool recordBatch = true;      // several executions in one recorded command buffer
    GpuTuning tuning = GpuTuning::None;
    int tuningOperators = 0;  // the most operators that the session measures; 0: all
    DeviceLimits deviceLimits;
    Power power = Power::Normal;                  // of workers that the session makes for itself
    std::shared_ptr<const SharedRuntime> shared;  // null: the session makes what it needs

    bool operator==(const BackendConfig&) const = default;
};

// What a backend does where its configuration asks for more than it has. The texts are constant.
struct EffectiveSettings {
    Precision precision = Precision::Normal;
    const char* precisionReason = nullptr;  // why it is not the precision asked for; null: it is
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
    // Whether create() will take the command, as far as its parameters, shapes and types tell; if not,
    // `reason` gets a sentence. Makes nothing.
    virtual bool supports(const Command& command, std::string& reason) const = 0;
    // Whether create() takes this command with its epilogue whenever it takes it without.
    virtual bool supportsPostOps(const Command&) const { return false; }
    // Whether create() takes this command with its operand views whenever it takes it without.
    virtual bool supportsViews(const Command&) const { return false; }
    // Groups of commands that this backend computes at once, in the order in which they are looked for.
    virtual std::span<const FusionPattern* const> patterns() const noexcept { return {}; }
    // Whether create() takes this command of floats also over int8 tensors that mean the same (a convolution
    // as ConvInt8 or DepthwiseConvInt8). Its tensors carry their scales.
    virtual bool canQuantize(const Command&) const { return false; }
    // Whether its int8 tensors may be channel-packed as well.
    virtual bool packsInt8() const noexcept { return false; }
    // Bit i: executions of commands of this kind load a large constant input i themselves (Tensor::stored), because
    // they prepare it once and do not read it afterwards.
    virtual uint32_t loadsInputs(OpType) const noexcept { return 0; }
    // With which algorithm it computes all of these convolutions over packed channels, whose weights are the same
    // constant, because one packing of them is then enough; the number is the backend's. 0: each has its own best one.
    virtual int commonAlgorithm(std::span<const Command* const>) const { return 0; }
    // The storage this backend wants for a command whose inputs are stored as their `channelBlock` says now.
    virtual StorageChoice chooseStorage(const Command& command) const = 0;
    // Whether floats have 16 bits in this backend's memory, but for tensors that are marked (Storage::wide).
    virtual bool narrowsFloats() const noexcept { return false; }
    // An execution, or null with a sentence in `reason` when this backend does not take the command.
    virtual std::unique_ptr<Execution> create(const Command& command, std::string& reason) = 0;
    // This backend as one with memory of its own; null: its tensors are the host's.
    virtual DeviceBackend* device() noexcept { return nullptr; }
    // What a later process may use again instead of preparing it; empty: nothing.
    virtual std::vector<uint8_t> cache() const { return {}; }
    // The threads on which runs compute, leased for each whole run (RunLease); null: a device computes.
    virtual ThreadPool* runPool() const noexcept { return nullptr; }
    // Executions are prepared on these threads, which are leased already; null: on those of the backend.
    virtual void prepareOn(ThreadPool*) noexcept {}
};

// What the backend wants, or everything row-major when one tensor of the command cannot be packed.
StorageChoice feasibleStorage(const Backend& backend, const Command& command);

class Runtime {
  public:
    virtual ~Runtime() = default;
    virtual std::unique_ptr<Backend> createBackend(const BackendConfig& config, WeightStore& weights) = 0;
    // Offers what an earlier process prepared (Backend::cache). False: it does not fit, nothing changed.
    virtual bool setCache(const std::vector<uint8_t>&) { return false; }
};

}  // namespace mnnc
