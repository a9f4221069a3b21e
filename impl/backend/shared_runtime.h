// What sessions of any interpreters share because the host made a runtime for them (mnn_runtime_t). Without one a
// session makes its own threads and takes its memory from the library.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backend/host_vulkan.h"
#include "backend/run_queue.h"
#include "backend/shared_threads.h"
#include "base/host_memory.h"
#include "base/log.h"

namespace mnnc {

class Runtime;
struct ProcessorCosts;  // registry.h

struct SharedRuntime {
    std::vector<std::shared_ptr<void>> owners;  // keep what callbacks are handed; destroyed last
    LogSink log;
    SharedThreadsPtr threads;                     // never null
    HostMemoryPtr memory;                         // of arenas, weights and copies; null: the library's
    std::string device;                           // of sessions that name none; see BackendConfig
    std::shared_ptr<const HostVulkan> vulkan;     // null: the library makes such objects itself
    std::shared_ptr<Runtime> vulkanRuntime;       // over those objects
    std::shared_ptr<const ProcessorCosts> costs;  // in place of the library's; null: those
    std::unique_ptr<RunQueue> submitted = std::make_unique<RunQueue>();
};
using SharedRuntimePtr = std::shared_ptr<const SharedRuntime>;

}  // namespace mnnc
