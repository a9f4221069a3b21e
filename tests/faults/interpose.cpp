#include "interpose.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

// The sanitizers' own malloc stays; operator new and mmap of the library are seen all the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MNN_C_OWN_HEAP 0
#else
#define MNN_C_OWN_HEAP 1
#endif

#define EXPORTED __attribute__((visibility("default"), noinline))
#define CALLER __builtin_return_address(0)

#if MNN_C_OWN_HEAP
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}
#endif

namespace faults {
namespace {

struct Range {
    uintptr_t begin = 0, end = 0;
    bool holds(const void* at) const {
        const auto address = reinterpret_cast<uintptr_t>(at);
        return address >= begin && address < end;
    }
};
// The libraries under test: that of networks and, where a program uses it, that of pictures.
struct {
    Range ranges[2];
    size_t count = 0;
    bool holds(const void* at) const { return ranges[0].holds(at) || ranges[1].holds(at); }
} library;
Range program;
Range helpers[2];  // libstdc++, libc: they ask on somebody's behalf
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
    if (std::strstr(name, "libmnn_c") && library.count < 2) library.ranges[library.count++] = rangeOf(*info);
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
    if (program.holds(at) && !walk.helped) return _URC_NO_REASON;  // this file
    walk.ours = library.holds(at);
    return _URC_END_OF_STACK;
}

thread_local bool throwing = false;  // operator new below makes the exception for the library

bool isOurs(const void* caller) {
    if (!ready.load(std::memory_order_acquire)) return false;
    if (library.holds(caller)) return true;
    if (throwing) return true;
    if (!helpers[0].holds(caller) && !helpers[1].holds(caller)) return false;
    Walk walk;
    _Unwind_Backtrace(&visitFrame, &walk);
    return walk.ours;
}

// ---- The plan -------------------------------------------------------------------------------------------------------

struct {
    std::atomic<bool> active{false};
    Call call = Call::Last;
    long n = 0;
    Extent extent = Extent::Once;
    int error = 0;
    std::atomic<long> seen{0}, failed{0};
    std::atomic<long> room{-1};  // bytes of a disk; -1: no such limit
} plan;

// Whether this request of the library fails.
bool fails(Call call) {
    if (!plan.active.load(std::memory_order_acquire) || plan.call != call) return false;
    const long number = plan.seen.fetch_add(1) + 1;
    const long last = plan.extent == Extent::Once  ? plan.n
                      : plan.extent == Extent::Few ? plan.n + 4
                                                   : INT64_MAX;
    if (number < plan.n || number > last) return false;
    plan.failed.fetch_add(1);
    return true;
}

// The same for calls of the system; sets errno.
bool refused(Call call, const void* caller) {
    if (!plan.active.load(std::memory_order_acquire) || plan.call != call || !isOurs(caller) || !fails(call))
        return false;
    errno = plan.error;
    return true;
}

// ---- What the library holds -----------------------------------------------------------------------------------------

class Held {
  public:
    void add(const void* block, const void* caller, size_t bytes) {
        const Lock lock(*this);
        if (count_ * 2 >= kSlots) std::abort();
        size_t at = slotOf(block);
        while (slots_[at].block) at = (at + 1) % kSlots;
        slots_[at] = {block, caller, bytes};
        ++count_;
    }
    void remove(const void* block) {
        if (count_.load(std::memory_order_relaxed) == 0) return;
        const Lock lock(*this);
        size_t at = slotOf(block);
        while (slots_[at].block != block) {
            if (!slots_[at].block) return;
            at = (at + 1) % kSlots;
        }
        // Linear probing: whatever follows and may move up does.
        size_t hole = at;
        for (size_t next = (hole + 1) % kSlots; slots_[next].block; next = (next + 1) % kSlots) {
            const size_t home = slotOf(slots_[next].block);
            if ((next - home) % kSlots < (next - hole) % kSlots) continue;
            slots_[hole] = slots_[next];
            hole = next;
        }
        slots_[hole] = {};
        --count_;
    }
    long count() const { return count_.load(); }
    void print() {
        int printed = 0;
        for (const Slot& slot : slots_) {
            if (!slot.block || ++printed > 12) continue;
            Dl_info info{};
            dladdr(slot.caller, &info);
            std::printf("    %zu bytes from %s+0x%zx\n", slot.bytes, info.dli_fname ? info.dli_fname : "?",
                        static_cast<size_t>(static_cast<const char*>(slot.caller) -
                                            static_cast<const char*>(info.dli_fbase)));
        }
    }

  private:
    static constexpr size_t kSlots = size_t{1} << 18;
    struct Slot {
        const void* block;
        const void* caller;
        size_t bytes;
    };
    struct Lock {
        explicit Lock(Held& held) : owner(held) {
            while (owner.busy_.test_and_set(std::memory_order_acquire)) {
            }
        }
        ~Lock() { owner.busy_.clear(std::memory_order_release); }
        Held& owner;
    };
    static size_t slotOf(const void* block) {
        return (reinterpret_cast<uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15u >> 46;
    }
    Slot slots_[kSlots];
    std::atomic<size_t> count_;
    std::atomic_flag busy_;
};
Held held;

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

void* allocateAligned(size_t alignment, size_t bytes) {
#if MNN_C_OWN_HEAP
    return __libc_memalign(alignment, bytes);
#else
    static auto* const next = real<void*(size_t, size_t)>("aligned_alloc");
    return next(alignment, bytes);
#endif
}

// alignment 0: malloc's.
void* request(size_t bytes, size_t alignment, const void* caller) {
    const bool ours = isOurs(caller);
    throwing = false;
    if (ours && fails(Call::Memory)) {
        errno = ENOMEM;
        return nullptr;
    }
#if MNN_C_OWN_HEAP
    void* block = alignment ? allocateAligned(alignment, bytes) : __libc_malloc(bytes);
#else
    void* block = alignment ? allocateAligned(alignment, bytes) : std::malloc(bytes);
#endif
    if (ours && block) held.add(block, caller, bytes);
    return block;
}

void release(void* block) {
    if (!block) return;
    held.remove(block);
#if MNN_C_OWN_HEAP
    __libc_free(block);
#else
    std::free(block);
#endif
}

void* requestOrThrow(size_t bytes, size_t alignment, const void* caller) {
    if (void* block = request(bytes ? bytes : 1, alignment, caller)) return block;
    throwing = isOurs(caller);
    throw std::bad_alloc();
}

}  // namespace

const char* callName(Call call) {
    static const char* const names[] = {"memory", "open",  "fstat", "read",           "mmap",   "write",
                                        "rename", "fsync", "close", "pthread_create", "sysconf"};
    return names[static_cast<int>(call)];
}

void begin() {
    dl_iterate_phdr(&visitObject, nullptr);
    Walk walk;
    _Unwind_Backtrace(&visitFrame, &walk);  // what the unwinder makes at its first use is not the library's
    if (library.count == 0) {
        std::fprintf(stderr, "the library is not loaded\n");
        std::exit(2);
    }
    ready.store(true, std::memory_order_release);
}

void arm(Call call, long n, Extent extent, int error) {
    plan.call = call;
    plan.n = n;
    plan.extent = extent;
    plan.error = error;
    plan.seen = 0;
    plan.failed = 0;
    plan.room = -1;
    plan.active.store(true, std::memory_order_release);
}

void armFullDisk(long bytes) {
    arm(Call::Write, INT64_MAX, Extent::Once, ENOSPC);
    plan.room = bytes;
}

void watch(Call call) {
    arm(call, INT64_MAX, Extent::Once, 0);
}

long disarm() {
    plan.active.store(false, std::memory_order_release);
    plan.room = -1;
    return plan.seen.load();
}

long failed() {
    return plan.failed.load();
}

long live() {
    return held.count();
}

void printLive() {
    held.print();
}

}  // namespace faults

using namespace faults;

// ---- The heap -------------------------------------------------------------------------------------------------------

EXPORTED void* operator new(size_t bytes) {
    return requestOrThrow(bytes, 0, CALLER);
}
EXPORTED void* operator new[](size_t bytes) {
    return requestOrThrow(bytes, 0, CALLER);
}
EXPORTED void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return request(bytes, 0, CALLER);
}
EXPORTED void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
    return request(bytes, 0, CALLER);
}
EXPORTED void* operator new(size_t bytes, std::align_val_t alignment) {
    return requestOrThrow(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void* operator new[](size_t bytes, std::align_val_t alignment) {
    return requestOrThrow(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return request(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void* operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return request(bytes, static_cast<size_t>(alignment), CALLER);
}
EXPORTED void operator delete(void* block) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, size_t) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, size_t) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, const std::nothrow_t&) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, const std::nothrow_t&) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, std::align_val_t) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, std::align_val_t) noexcept {
    release(block);
}
EXPORTED void operator delete(void* block, size_t, std::align_val_t) noexcept {
    release(block);
}
EXPORTED void operator delete[](void* block, size_t, std::align_val_t) noexcept {
    release(block);
}

extern "C" {

#if MNN_C_OWN_HEAP
EXPORTED void* malloc(size_t bytes) {
    return request(bytes, 0, CALLER);
}
EXPORTED void* calloc(size_t number, size_t size) {
    const void* caller = CALLER;
    const bool ours = isOurs(caller);
    if (ours && fails(Call::Memory)) {
        errno = ENOMEM;
        return nullptr;
    }
    void* block = __libc_calloc(number, size);
    if (ours && block) held.add(block, caller, number * size);
    return block;
}
EXPORTED void* realloc(void* old, size_t bytes) {
    const void* caller = CALLER;
    const bool ours = isOurs(caller);
    if (ours && fails(Call::Memory)) {
        errno = ENOMEM;
        return nullptr;
    }
    held.remove(old);
    void* block = __libc_realloc(old, bytes);
    if (ours && block) held.add(block, caller, bytes);
    return block;
}
EXPORTED void free(void* block) {
    release(block);
}
EXPORTED void* memalign(size_t alignment, size_t bytes) {
    return request(bytes, alignment, CALLER);
}
#endif

EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
    return request(bytes, alignment, CALLER);
}
EXPORTED int posix_memalign(void** block, size_t alignment, size_t bytes) {
    void* made = request(bytes, alignment, CALLER);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

EXPORTED void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
    const void* caller = CALLER;
    const bool ours = library.holds(caller) && ready;
    if (ours && (fails(Call::Memory) || fails(Call::Map))) {
        errno = plan.error ? plan.error : ENOMEM;
        return MAP_FAILED;
    }
    auto* mapping = reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
    if (ours && mapping != MAP_FAILED) held.add(mapping, caller, bytes);
    return mapping;
}
EXPORTED int munmap(void* at, size_t bytes) {
    held.remove(at);
    return static_cast<int>(syscall(SYS_munmap, at, bytes));
}

// ---- The system -----------------------------------------------------------------------------------------------------

EXPORTED int open(const char* path, int flags, ...) {
    if (refused(Call::Open, CALLER)) return -1;
    va_list list;
    va_start(list, flags);
    const mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
EXPORTED int mkostemp(char* path, int flags) {
    if (refused(Call::Open, CALLER)) return -1;
    static auto* const next = real<int(char*, int)>("mkostemp");
    return next(path, flags);
}
EXPORTED int fstat(int file, struct stat* info) {
    if (refused(Call::Stat, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_newfstatat, file, "", info, AT_EMPTY_PATH));
}
EXPORTED ssize_t read(int file, void* buffer, size_t bytes) {
    if (refused(Call::Read, CALLER)) {
        if (plan.error) return -1;
        if (bytes > 3) bytes = 3;
    }
    return syscall(SYS_read, file, buffer, bytes);
}
EXPORTED ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
    if (refused(Call::Read, CALLER)) {
        if (plan.error) return -1;
        if (bytes > 3) bytes = 3;
    }
    return syscall(SYS_pread64, file, buffer, bytes, offset);
}
EXPORTED ssize_t write(int file, const void* buffer, size_t bytes) {
    const bool ours = isOurs(CALLER);
    if (ours && plan.active && plan.room >= 0) {
        const long room = plan.room;
        if (room == 0) {
            plan.failed.fetch_add(1);
            errno = ENOSPC;
            return -1;
        }
        if (bytes > static_cast<size_t>(room)) bytes = static_cast<size_t>(room);
        plan.room = room - static_cast<long>(bytes);
    } else if (ours && refused(Call::Write, CALLER)) {
        if (plan.error) return -1;
        if (bytes > 3) bytes = 3;
    }
    return syscall(SYS_write, file, buffer, bytes);
}
EXPORTED int rename(const char* from, const char* to) {
    if (refused(Call::Rename, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
EXPORTED int fsync(int file) {
    if (refused(Call::Sync, CALLER)) return -1;
    return static_cast<int>(syscall(SYS_fsync, file));
}
EXPORTED int close(int file) {
    const bool bad = refused(Call::Close, CALLER);
    const int error = errno;
    const long result = syscall(SYS_close, file);  // a failed close has closed as well
    if (!bad) return static_cast<int>(result);
    errno = error;
    return -1;
}
EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                            void* argument) {
    if (refused(Call::Thread, CALLER)) return plan.error;
    static auto* const next =
        real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    return next(thread, attributes, body, argument);
}
EXPORTED long sysconf(int name) {
    if (refused(Call::Sysconf, CALLER)) return -1;
    static auto* const next = real<long(int)>("sysconf");
    return next(name);
}

// What _FILE_OFFSET_BITS and other builds make of the same calls.
EXPORTED int open64(const char* path, int flags, ...) __attribute__((alias("open")));
EXPORTED int mkostemp64(char* path, int flags) __attribute__((alias("mkostemp")));
EXPORTED ssize_t pread64(int file, void* buffer, size_t bytes, off_t offset) __attribute__((alias("pread")));
EXPORTED int fstat64(int file, struct stat64* info) __attribute__((alias("fstat")));
EXPORTED void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off_t offset)
    __attribute__((alias("mmap")));

}  // extern "C"
