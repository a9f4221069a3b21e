// Resources that sessions of any interpreters share, because the host made a runtime for them (mnn_runtime_t). Without
// one, a session makes its own threads and takes memory from the library.
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
    std::vector<std::shared_ptr<void>> owners;  // keep the data of callbacks alive; destroyed last
    LogSink log;
    SharedThreadsPtr threads;                     // never null
    HostMemoryPtr memory;                         // for arenas, weights and copies; null: the library's own allocation
    std::string device;                           // for sessions that name no device; see BackendConfig
    std::shared_ptr<const HostVulkan> vulkan;     // null: the library makes its own Vulkan objects
    std::shared_ptr<Runtime> vulkanRuntime;       // uses those objects
    std::shared_ptr<const ProcessorCosts> costs;  // used in place of the library's costs; may be null
    std::unique_ptr<RunQueue> submitted = std::make_unique<RunQueue>();
};
using SharedRuntimePtr = std::shared_ptr<const SharedRuntime>;

}  // namespace mnnc
