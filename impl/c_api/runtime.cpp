// mnn_runtime_*: resources that sessions share, made from the host's configuration.
#include "backend/cores.h"
#include "backend/registry.h"
#include "base/float_mode.h"
#include "c_api/guard.h"
#include "c_api/user_data.h"

using namespace mnnc;

namespace {

// The sizes of the structs' first versions; they stay when the structs grow.
constexpr size_t kRuntimeConfigSize = sizeof(mnn_runtime_config_t);
constexpr size_t kVulkanObjectsSize = sizeof(mnn_vulkan_objects_t);

// Calls the host's allocator in the floating-point mode that the host's code expects.
class HostAllocator final : public HostMemory {
  public:
    HostAllocator(const mnn_runtime_config_t& config, std::shared_ptr<UserData> user)
        : allocate_(config.allocate), release_(config.release), user_(std::move(user)) {}
    void* allocate(size_t bytes, size_t alignment) noexcept override {
        const ScopedFloatMode mode(FloatMode::computing(true));
        return allocate_(user_->data, bytes, alignment);
    }
    void release(void* memory, size_t bytes, size_t alignment) noexcept override {
        const ScopedFloatMode mode(FloatMode::computing(true));
        release_(user_->data, memory, bytes, alignment);
    }

  private:
    const mnn_allocate allocate_;
    const mnn_release release_;
    const std::shared_ptr<UserData> user_;
};

std::vector<int> coreNumbers(const mnn_runtime_config_t& config) {
    std::vector<int> cores;
    if (config.core_count > 0 && !config.cores)
        fail(Status::NullArgument, "config.cores is NULL but has %zu numbers", config.core_count);
    for (size_t i = 0; i < config.core_count; ++i) {
        if (config.cores[i] < 0)
            fail(Status::BadRange, "config.cores[%zu] is %d; cores are counted from 0", i, config.cores[i]);
        cores.push_back(config.cores[i]);
    }
    return cores;
}

mnn_runtime_config_t readRuntimeConfig(const mnn_runtime_config_t* config) {
    mnn_runtime_config_t read{};
    if (config) read = readStruct(*config, kRuntimeConfigSize, "config");
    if (read.threads < 0 || read.threads > MNN_MAX_THREADS)
        fail(Status::BadRange, "config.threads is %d, it goes from 0 to %d", read.threads, MNN_MAX_THREADS);
    if (read.power < MNN_POWER_NORMAL || read.power > MNN_POWER_LOW)
        fail(Status::InvalidValue, "config.power is %d, it goes from 0 to %d", read.power, MNN_POWER_LOW);
    if (read.parallel_for && (read.power != MNN_POWER_NORMAL || read.core_count > 0))
        fail(Status::InvalidValue, "config.%s is for workers, but config.parallel_for brings the host's own threads",
             read.core_count > 0 ? "cores" : "power");
    if (!read.allocate != !read.release)
        fail(Status::InvalidValue, "config.%s is NULL, but config.%s is not: an allocator needs both",
             read.allocate ? "release" : "allocate", read.allocate ? "allocate" : "release");
    if (read.vulkan && read.device)
        fail(Status::InvalidValue, "config.device is '%s', but config.vulkan brings the host's own device",
             read.device);
    if (read.log_level < MNN_LOG_DEFAULT || read.log_level > MNN_LOG_DEBUG)
        fail(Status::InvalidValue, "config.log_level is %d, it goes from 0 to %d", read.log_level, MNN_LOG_DEBUG);
    if (read.threads == 0) read.threads = 1;
    return read;
}

void* present(void* object, const char* field) {
    if (!object) fail(Status::NullArgument, "config.vulkan->%s is NULL", field);
    return object;
}

std::shared_ptr<HostVulkan> readVulkan(const mnn_vulkan_objects_t& objects) {
    const auto read = readStruct(objects, kVulkanObjectsSize, "config.vulkan");
    auto host = std::make_shared<HostVulkan>();
    host->instance = present(read.instance, "instance");
    host->physicalDevice = present(read.physical_device, "physical_device");
    host->device = present(read.device, "device");
    host->queue = present(read.queue, "queue");
    host->queueFamily = read.queue_family;
    if (read.storage_16bit != 0 && read.storage_16bit != 1)
        fail(Status::InvalidValue, "config.vulkan->storage_16bit is %d, it is 0 or 1", read.storage_16bit);
    host->storage16 = read.storage_16bit == 1;
    if (!read.lock_queue != !read.unlock_queue)
        fail(Status::InvalidValue, "config.vulkan->%s is NULL, but the other of lock_queue and unlock_queue is not",
             read.lock_queue ? "unlock_queue" : "lock_queue");
    host->lockQueue = read.lock_queue;
    host->unlockQueue = read.unlock_queue;
    host->user = read.user_data;
    return host;
}

// Makes a device over the host's objects now, so that their faults are found before the first session.
void takeVulkan(const std::shared_ptr<SharedRuntime>& shared) {
    for (const BackendEntry& entry : builtinBackends()) {
        if (entry.type != ForwardType::Vulkan) continue;
        BackendConfig config;
        config.shared = shared;
        shared->vulkanRuntime = entry.createRuntime(config);
        return;
    }
    fail(Status::BackendMissing, "config.vulkan is given, but Vulkan is not built into this library");
}

std::string coreList(const std::vector<int>& cores) {
    std::string text;
    for (const int core : cores) text += format("%s%d", text.empty() ? "" : ", ", core);
    return text;
}

// Workers on the cores in the configuration.
SharedThreadsPtr workersOf(const mnn_runtime_config_t& config, const LogSink& log) {
    const std::vector<int> wanted = coreNumbers(config);
    const auto power = static_cast<Power>(config.power);
    const std::vector<int> cores = coresOf(machineCores(), wanted, power, config.threads);
    SharedThreadsPtr threads = makeWorkers(config.threads, cores);
    if (threads->threads() < config.threads && log.wants(LogLevel::Warning))
        log(LogLevel::Warning, format("the runtime has %d threads instead of %d: the system gives no more",
                                      threads->threads(), config.threads));
    if (!cores.empty() && log.wants(LogLevel::Info))
        log(LogLevel::Info, "the workers of the runtime are placed on cores " + coreList(cores));
    if (power != Power::Normal && cores == wanted && log.wants(LogLevel::Info))
        log(LogLevel::Info,
            format("config.power is %d and chooses no cores: those that may be used are alike", config.power));
    return threads;
}

void logRuntime(const SharedRuntime& runtime, bool ofHost) {
    if (!runtime.log.wants(LogLevel::Info)) return;
    const int threads = runtime.threads->threads();
    runtime.log(LogLevel::Info, format("runtime created: %d thread%s%s, %s", threads, threads == 1 ? "" : "s",
                                       ofHost ? " of the host" : "",
                                       runtime.memory ? "memory of the host's allocator" : "memory of the library"));
}

}  // namespace

mnn_status mnn_vulkan_objects_init(mnn_vulkan_objects_t* objects, size_t struct_size) {
    return guard([&] { initStruct(&required(objects, "objects"), struct_size, kVulkanObjectsSize, "objects"); });
}

mnn_status mnn_runtime_config_init(mnn_runtime_config_t* config, size_t struct_size) {
    return guard([&] { initStruct(&required(config, "config"), struct_size, kRuntimeConfigSize, "config"); });
}

mnn_status mnn_runtime_create(const mnn_runtime_config_t* config, mnn_runtime_t** out) {
    return guard([&] {
        required(out, "out");
        const mnn_runtime_config_t given = readRuntimeConfig(config);
        const auto shared = std::make_shared<SharedRuntime>();
        const auto logData = std::make_shared<UserData>(given.log_user_data);
        const auto allocatorData = std::make_shared<UserData>(given.allocator_user_data);
        const auto parallelData = std::make_shared<UserData>(given.parallel_for_user_data);
        shared->log.callback = given.log_callback;
        shared->log.userData = given.log_user_data;
        if (given.log_level != MNN_LOG_DEFAULT) shared->log.level = static_cast<LogLevel>(given.log_level);
        shared->owners = {logData, allocatorData, parallelData};
        if (given.allocate) shared->memory = std::make_shared<HostAllocator>(given, allocatorData);
        shared->threads = given.parallel_for
                              ? makeHostThreads(given.parallel_for, parallelData->data, parallelData, given.threads)
                              : workersOf(given, shared->log);
        if (given.device) shared->device = given.device;
        if (given.cpu_costs) shared->costs = readProcessorCosts(given.cpu_costs);
        std::shared_ptr<UserData> vulkanData;
        if (given.vulkan) {
            const std::shared_ptr<HostVulkan> host = readVulkan(*given.vulkan);
            host->owner = vulkanData = std::make_shared<UserData>(host->user);
            shared->vulkan = host;
            takeVulkan(shared);
        }
        logRuntime(*shared, given.parallel_for != nullptr);
        auto object = std::make_unique<RuntimeObject>();
        object->shared = shared;
        const uint64_t handle = handles::create({HandleKind::Runtime, reinterpret_cast<uint64_t>(object.get())});
        // Nothing fails from here on: the handle owns the object, the object owns the finalizers.
        static_cast<void>(object.release());
        logData->finalizer = given.log_finalizer;
        allocatorData->finalizer = given.allocator_finalizer;
        parallelData->finalizer = given.parallel_for_finalizer;
        if (vulkanData) vulkanData->finalizer = given.vulkan->finalizer;
        *out = handleOf<mnn_runtime_t>(handle);
    });
}

mnn_status mnn_runtime_destroy(mnn_runtime_t** runtime) {
    return guard([&] {
        if (!runtime || !*runtime) return;
        if (!RuntimeUse(*runtime, "runtime").destroy())
            fail(Status::BadHandle, "argument 'runtime' is a destroyed handle");
        *runtime = nullptr;
    });
}
