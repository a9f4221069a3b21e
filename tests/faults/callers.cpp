// Finds where the libraries under test are mapped, and which requests come from them.
#include "callers.h"

#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "interpose.h"

namespace faults {
namespace {

struct Range {
    uintptr_t begin = 0, end = 0;
    bool holds(const void* at) const {
        const auto address = reinterpret_cast<uintptr_t>(at);
        return address >= begin && address < end;
    }
};
// The libraries under test: that of networks and, where a program uses them, those of pictures and of ONNX models.
struct {
    Range ranges[3];
    size_t count = 0;
    bool holds(const void* at) const { return ranges[0].holds(at) || ranges[1].holds(at) || ranges[2].holds(at); }
} library;
Range program;
Range helpers[2];  // libstdc++, libc: the request belongs to their caller
std::atomic<bool> ready{false};

Range rangeOf(const dl_phdr_info& info) {
    Range range{UINTPTR_MAX, 0};
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const auto& header = info.dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
        if (begin < range.begin) range.begin = begin;
        if (begin + header.p_memsz > range.end) range.end = begin + header.p_memsz;
    }
    return range;
}

int visitObject(dl_phdr_info* info, size_t, void*) {
    const char* name = info->dlpi_name ? info->dlpi_name : "";
    if (!*name && !program.end) program = rangeOf(*info);
    if (std::strstr(name, "libmnn_c")) {
        if (library.count == std::size(library.ranges)) {
            std::fprintf(stderr, "there are more libraries than places for them\n");
            std::exit(2);
        }
        library.ranges[library.count++] = rangeOf(*info);
    }
    if (std::strstr(name, "libstdc++")) helpers[0] = rangeOf(*info);
    if (std::strstr(name, "libc.so")) helpers[1] = rangeOf(*info);
    return 0;
}

struct Walk {
    bool helped = false, ours = false;
};

_Unwind_Reason_Code visitFrame(_Unwind_Context* context, void* given) {
    auto& walk = *static_cast<Walk*>(given);
    const auto* at = reinterpret_cast<const void*>(_Unwind_GetIP(context));
    if (helpers[0].holds(at) || helpers[1].holds(at)) {
        walk.helped = true;
        return _URC_NO_REASON;
    }
    if (program.holds(at) && !walk.helped) return _URC_NO_REASON;  // this program's own functions
    walk.ours = library.holds(at);
    return _URC_END_OF_STACK;
}

}  // namespace

constinit thread_local bool throwing = false;

bool isLibrary(const void* caller) {
    return ready.load(std::memory_order_acquire) && library.holds(caller);
}

bool isOurs(const void* caller) {
    if (!ready.load(std::memory_order_acquire)) return false;
    if (library.holds(caller)) return true;
    if (throwing) return true;
    if (!helpers[0].holds(caller) && !helpers[1].holds(caller)) return false;
    Walk walk;
    _Unwind_Backtrace(&visitFrame, &walk);
    return walk.ours;
}

void begin() {
    dl_iterate_phdr(&visitObject, nullptr);
    Walk walk;
    _Unwind_Backtrace(&visitFrame, &walk);  // objects that the unwinder creates at its first use are not the library's
    if (library.count == 0) {
        std::fprintf(stderr, "the library is not loaded\n");
        std::exit(2);
    }
    ready.store(true, std::memory_order_release);
}

}  // namespace faults
