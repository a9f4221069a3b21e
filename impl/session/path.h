// One path of a session: a part of the net on a backend of its own. Most sessions have one, with the whole net.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/float_mode.h"
#include "schedule/net_parts.h"
#include "session/interpreter.h"
#include "session/kept_states.h"
#include "session/model_cache.h"
#include "session/pipeline.h"

namespace mnnc {

struct SessionConfig {
    ForwardType forwardType = ForwardType::Cpu;
    ForwardType backupType = ForwardType::Cpu;
    // Backends that the host registered, where forwardType or backupType names them; the CPU computes beside them.
    HostBackendPtr hostBackend, hostBackup;
    bool allowFallback = false;
    // A backend that is asked, before the CPU, for operators that the wanted backend refuses.
    struct OperatorBackend {
        ForwardType type;
        HostBackendPtr host;  // null: one of the library's
    };
    std::vector<OperatorBackend> operatorBackends;
    BackendConfig backend;
    PartRequest part;
    int64_t maxMemoryBytes = 0;      // 0: defaultMemoryLimit()
    int64_t maxLoopIterations = 0;   // 0: 1,000,000
    std::vector<uint8_t> cache;      // from an earlier session on the same device; a mismatch is a miss
    Cancellation cancel;             // ends the creation
    bool recordPlans = false;        // for planTexts()
    bool measureAlgorithms = false;  // measures each algorithm that an operator could take while it is planned
    bool keepSubnormals = false;
    bool deferPlanning = false;  // the first resize() plans, not the constructor
    int planCache = 0;           // number of plans that are kept; 0: 2
};

class Path {
  public:
    // The pipeline is made later, because the context first infers the inputs from the middle of the net. memory:
    // belongs to the session, which outlives the path.
    Path(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& config, HeldMemory& memory);
    ~Path();
    void makePipeline(const NetPart& part);

    Pipeline& pipeline() noexcept { return *pipeline_; }
    const Pipeline& pipeline() const noexcept { return *pipeline_; }
    SessionContext& context() noexcept { return context_; }
    KeptStates& kept() noexcept { return kept_; }
    const KeptStates& kept() const noexcept { return kept_; }
    const SessionContext& context() const noexcept { return context_; }

    // Links an input of the pipeline to a tensor of an earlier path. It is not copied where both have the same layout.
    void linkFrom(const Path& earlier, size_t input);
    // Returns whether the plans of earlier paths define all linked inputs, so that this path can be planned before a
    // run.
    bool fedAsPlanned() const noexcept;
    // Returns whether a tensor has its shape before a run.
    bool settled(int tensor) const noexcept { return fedAsPlanned() && pipeline_->settled(tensor); }
    // Describes the linked inputs by the plans of earlier paths, which must exist up to there.
    void describeLinks();
    // Makes a plan, or finds a kept one.
    void plan(const Cancellation& cancel);
    // Takes the results of earlier paths and runs; plans anew where these have other shapes than before.
    void run(RunObserver* observer, const Cancellation& cancel, PlanObserver* planObserver);

    // A run in two halves, see Session.
    bool onDeviceAlone() const noexcept { return pipeline_->recording() != nullptr; }
    void begin();
    bool end(int64_t nanoseconds);

    // The backend that runs the path, and why it is not the wanted one: empty when it is.
    ForwardType forwardType() const noexcept { return forwardType_; }
    ForwardType wantedType() const noexcept { return wantedType_; }
    const HostBackend* hostBackend() const noexcept { return hostBackend_.get(); }  // null: a backend of the library
    const std::string& fallbackReason() const noexcept { return fallbackReason_; }
    // The settings in effect and those of the configuration.
    const EffectiveSettings& settings() const noexcept { return settings_; }
    const BackendConfig& wantedSettings() const noexcept { return wantedSettings_; }
    // Returns the bytes that a later process may pass as SessionConfig::cache; empty on the CPU.
    std::vector<uint8_t> cache() const;
    CacheVerdict cacheVerdict() const noexcept { return cacheVerdict_; }
    // Returns whether a measuring path has more measurements of its device than the cache that was last read or
    // written.
    bool measuredMore() const {
        return settings_.tuning != GpuTuning::None && context_.device &&
               context_.device->measurements() > savedMeasurements_;
    }
    void measurementsSaved() {
        if (context_.device) savedMeasurements_ = context_.device->measurements();
    }

  private:
    void useOperatorBackends(const SessionConfig& config, const BackendConfig& backend);
    struct Link {
        const Pipeline* from;  // the earlier path's
        int tensor;            // its id in the earlier path
        bool settled;          // the earlier path has its shape before a run
        size_t input;          // of this path's pipeline
    };
    void receive(const Link& link);
    uint64_t cacheKey() const;
    void takeCache(const std::vector<uint8_t>& marked);

    std::shared_ptr<const Interpreter> interpreter_;
    const FloatMode floatMode_;  // in effect during runs and plans
    ForwardType forwardType_ = ForwardType::Cpu, wantedType_ = ForwardType::Cpu;
    BackendConfig wantedSettings_;
    EffectiveSettings settings_;
    std::string fallbackReason_;
    HostBackendPtr hostBackend_;                     // null: the host registered none
    std::shared_ptr<Runtime> runtime_, cpuRuntime_;  // the same when the CPU is wanted
    SessionContext context_;
    KeptStates kept_{context_};
    std::unique_ptr<Pipeline> pipeline_;
    std::vector<Link> links_;
    CacheVerdict cacheVerdict_ = CacheVerdict::None;
    size_t savedMeasurements_ = 0;
};

}  // namespace mnnc
