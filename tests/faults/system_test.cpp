// Each call of the operating system fails at its n-th use, with the errors that it can give: this must end in a status
// or the right result, leave nothing behind, and the next call must be right. Interrupted calls and short transfers
// change nothing. A cache file stays complete when it cannot be replaced. A child of fork() computes.
//
//     system_test MODEL
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "left.h"
#include "system.h"

namespace {

using namespace faults;

void loading() {
    const std::vector<mnn_status> file = {MNN_OK, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED};
    for (const int32_t mode : {MNN_LOAD_DEFAULT, MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED}) {
        static const char* const names[] = {"load", "load, mapped", "load, chunked"};
        const Subject subject{names[mode], nothing, [mode](Handles& handles) { return load(handles, mode); }, nullptr};
        for (const int error : {EACCES, EMFILE, ENFILE, EIO, ELOOP})
            walk(subject, Call::Open, error, Extent::Once, file);
        for (const int error : {ENOENT, ENOTDIR})
            walk(subject, Call::Open, error, Extent::Once, {MNN_ERROR_FILE_NOT_EXIST});
        for (const int error : {EIO, EOVERFLOW, ENOMEM}) walk(subject, Call::Stat, error, Extent::Once, file);
        for (const int error : {EIO, EISDIR, ESTALE}) {
            walk(subject, Call::Read, error, Extent::Once, file);
            walk(subject, Call::Read, error, Extent::FromThen, file);
        }
        for (const int error : {ENOMEM, ENODEV, EAGAIN}) {
            walk(subject, Call::Map, error, Extent::Once, {MNN_OK, MNN_ERROR_OUT_OF_MEMORY});
            walk(subject, Call::Map, error, Extent::FromThen, {MNN_OK, MNN_ERROR_OUT_OF_MEMORY});
        }
        // An interrupted call or a short read is no failure at all.
        walk(subject, Call::Open, EINTR, Extent::Few, {MNN_OK});
        walk(subject, Call::Read, EINTR, Extent::Once, {MNN_OK});
        walk(subject, Call::Read, EINTR, Extent::Few, {MNN_OK});
        walk(subject, Call::Read, 0, Extent::Once, {MNN_OK});
        walk(subject, Call::Read, 0, Extent::Few, {MNN_OK});
        for (const int error : {EINTR, EIO}) walk(subject, Call::Close, error, Extent::Once, {MNN_OK});
    }
}

// The creation of a session: it reads parts of the file again, creates threads, and queries the machine.
void creating() {
    const Subject subject{"create, 4 threads", [](Handles& handles) { return load(handles); },
                          [](Handles& handles) { return create(handles, 4); }, nullptr};
    for (const Extent extent : {Extent::Once, Extent::FromThen}) {
        walk(subject, Call::Thread, EAGAIN, extent, {MNN_OK});
        walk(subject, Call::Sysconf, EINVAL, extent, {MNN_OK});
        walk(subject, Call::Map, ENOMEM, extent, {MNN_OK, MNN_ERROR_OUT_OF_MEMORY});
        walk(subject, Call::Stat, EIO, extent, {MNN_OK, MNN_ERROR_FILE_READ_FAILED});
        walk(subject, Call::Read, EIO, extent, {MNN_OK, MNN_ERROR_FILE_READ_FAILED});
    }
    walk(subject, Call::Read, EINTR, Extent::Few, {MNN_OK});
    walk(subject, Call::Read, 0, Extent::Few, {MNN_OK});
}

// Submitting a run creates a thread.
void submitting() {
    const Subject subject{"submit",
                          [](Handles& handles) {
                              MUST(load(handles));
                              MUST(create(handles, 1));
                              fill(handles.session);
                              return MNN_OK;
                          },
                          [](Handles& handles) {
                              const mnn_status status = mnn_session_submit(handles.session, nullptr);
                              return status != MNN_OK ? status : mnn_session_wait(handles.session, -1);
                          },
                          nullptr};
    walk(subject, Call::Thread, EAGAIN, Extent::Once, {MNN_ERROR_OUT_OF_MEMORY});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    tested.path = argv[1];
    char place[] = "/tmp/mnn_c_faults.XXXXXX";
    if (!mkdtemp(place)) return 2;
    tested.folder = place;
    faults::begin();
    {
        Handles handles;
        MUST(load(handles));
        MUST(create(handles, 1));
        tested.expected = compute(handles);
    }
    loading();
    creating();
    submitting();
    size_t devices = 0;
    const bool vulkan = mnn_device_count(MNN_FORWARD_VULKAN, &devices) == MNN_OK;
    if (vulkan) {
        Handles kept;  // keeps the device
        MUST(load(kept));
        MUST(create(kept, 1, MNN_FORWARD_VULKAN));
        const Bytes onCpu = std::exchange(tested.expected, compute(kept));
        testCaching();
        tested.expected = onCpu;
    }
    testForking(vulkan);
    rmdir(tested.folder.c_str());
    std::printf("%d wrong\n", tested.wrong);
    return tested.wrong != 0;
}
