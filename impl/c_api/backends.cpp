// mnn_runtime_add_backend() and its helpers.
#include <cstring>

#include "backend/registry.h"
#include "c_api/backend_node.h"
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kBackendSize = sizeof(mnn_backend_t);

mnn_backend_t readBackend(const mnn_backend_t& given) {
    const mnn_backend_t backend = readStruct(given, kBackendSize, "backend");
    if (!backend.name) fail(Status::NullArgument, "backend.name is NULL");
    if (!backend.supports) fail(Status::NullArgument, "backend.supports is NULL");
    if (!backend.compute) fail(Status::NullArgument, "backend.compute is NULL");
    if (backend.name[0] == '\0') fail(Status::InvalidValue, "backend.name is empty");
    for (const BackendEntry& entry : builtinBackends())
        if (std::strcmp(entry.name, backend.name) == 0)
            fail(Status::InvalidValue, "backend.name is '%s', a backend of this library", backend.name);
    return backend;
}

}  // namespace

mnn_status mnn_backend_init(mnn_backend_t* backend, size_t struct_size) {
    return guard([&] { initStruct(&required(backend, "backend"), struct_size, kBackendSize, "backend"); });
}

mnn_status mnn_runtime_add_backend(mnn_runtime_t* runtime, const mnn_backend_t* backend, int32_t* forward_type) {
    return guard([&] {
        required(forward_type, "forward_type");
        const RuntimeUse use(runtime, "runtime");
        const mnn_backend_t given = readBackend(required(backend, "backend"));
        const auto made = std::make_shared<CallbackBackend>(given);
        *forward_type = use->backends.add(made);
        made->armFinalizer(given.finalizer);
    });
}
