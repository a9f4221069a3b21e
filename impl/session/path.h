// One path of a session: a part of the net on a backend of its own. Most sessions have one, with the whole net.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/float_mode.h"
#include "schedule/net_parts.h"
#include "session/interpreter.h"
#include "session/model_cache.h"
#include "session/pipeline.h"

namespace mnnc {

using HostBackendPtr = std::shared_ptr<const HostBackend>;

struct SessionConfig {
    ForwardType forwardType = ForwardType::Cpu;
    ForwardType backupType = ForwardType::Cpu;
    HostBackendPtr hostBackend,
        hostBackup;  // of the host's own where those types are: it computes beside the CPU
    bool allowFallback = false;
    BackendConfig backend;
    PartRequest part;
    int64_t maxMemoryBytes = 0;      // 0: 4 GiB or half the machine's memory, whichever is more
    int64_t maxLoopIterations = 0;   // 0: 1,000,000
    std::vector<uint8_t> cache;      // of an earlier session of the same device; what does not fit is a miss
    Cancellation cancel;             // ends the creation
    bool recordPlans = false;        // for planTexts()
    bool measureAlgorithms = false;  // each that an operator could take, while it is planned
    bool keepSubnormals = false;
    bool deferPlanning = false;  // the first resize() plans, not the constructor
    int planCache = 0;           // plans that are kept; 0: 2
};

class Path {
  public:
    // The pipeline is made later: what it is fed from the middle of the net is asked of the context. memory: of the
    // session, which outlives the path.
    Path(std::shared_ptr<const Interpreter> interpreter, const SessionConfig& config, HeldMemory& memory);
    ~Path();
    void makePipeline(const NetPart& part);

    Pipeline& pipeline() noexcept { return *pipeline_; }
    const Pipeline& pipeline() const noexcept { return *pipeline_; }
    SessionContext& context() noexcept { return context_; }
    const SessionContext& context() const noexcept { return context_; }

    // An input of the pipeline that an earlier path has. Where both have it in the same layout it is not copied.
    void linkFrom(const Path& earlier, size_t input);
    // Whether the plans of earlier paths say what this one is fed: it can be planned before a run then.
    bool fedAsPlanned() const noexcept;
    // Whether a tensor has its shape before a run.
    bool settled(int tensor) const noexcept { return fedAsPlanned() && pipeline_->settled(tensor); }
    // Describes what earlier paths have, which must be planned as far as that.
    void describeLinks();
    // Makes or finds the plan.
    void plan(const Cancellation& cancel);
    // Takes what earlier paths made and runs, with a new plan where that has other shapes than before.
    void run(RunObserver* observer, const Cancellation& cancel, PlanObserver* planObserver);

    // A run in two halves, see Session.
    bool onDeviceAlone() const noexcept { return pipeline_->recording() != nullptr; }
    void begin();
    bool end(int64_t nanoseconds);

    // The backend that runs the path, and why it is not the wanted one: empty when it is.
    ForwardType forwardType() const noexcept { return forwardType_; }
    ForwardType wantedType() const noexcept { return wantedType_; }
    const HostBackend* hostBackend() const noexcept { return hostBackend_.get(); }  // null: one of the library's
    const std::string& fallbackReason() const noexcept { return fallbackReason_; }
    // What is done where the configuration asks for more, and what it asked for.
    const EffectiveSettings& settings() const noexcept { return settings_; }
    const BackendConfig& wantedSettings() const noexcept { return wantedSettings_; }
    // What a later process may pass as SessionConfig::cache; empty on the CPU.
    std::vector<uint8_t> cache() const;
    CacheVerdict cacheVerdict() const noexcept { return cacheVerdict_; }
    // Whether a path that measures finds more measured on its device than the cache holds that was last read or
    // written.
    bool measuredMore() const {
        return settings_.tuning != GpuTuning::None && context_.device &&
               context_.device->measurements() > savedMeasurements_;
    }
    void measurementsSaved() {
        if (context_.device) savedMeasurements_ = context_.device->measurements();
    }

  private:
    struct Link {
        const Pipeline* from;  // of the earlier path
        int tensor;            // there
        bool settled;          // the earlier path has its shape before a run
        size_t input;          // of this path's pipeline
    };
    void receive(const Link& link);
    uint64_t cacheKey() const;
    void takeCache(const std::vector<uint8_t>& marked);

    std::shared_ptr<const Interpreter> interpreter_;
    const FloatMode floatMode_;  // of runs and plans
    ForwardType forwardType_ = ForwardType::Cpu, wantedType_ = ForwardType::Cpu;
    BackendConfig wantedSettings_;
    EffectiveSettings settings_;
    std::string fallbackReason_;
    HostBackendPtr hostBackend_;                     // null: none of the host's own
    std::shared_ptr<Runtime> runtime_, cpuRuntime_;  // the same when the CPU is wanted
    SessionContext context_;
    std::unique_ptr<Pipeline> pipeline_;
    std::vector<Link> links_;
    CacheVerdict cacheVerdict_ = CacheVerdict::None;
    size_t savedMeasurements_ = 0;
};

}  // namespace mnnc
