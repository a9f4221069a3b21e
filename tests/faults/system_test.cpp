// Each call of the operating system fails at its n-th use, with the errors it can give: a status or the right result,
// nothing left behind, the next call right. Interrupted calls and short transfers change nothing. A cache file stays
// whole when it cannot be replaced. A child of fork() computes.
//
//     system_test MODEL
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "interpose.h"
#include "left.h"
#include "net.h"

namespace {

using namespace faults;

const char* path = "";
Bytes expected;
std::string folder;  // of this process, for the cache file
int wrong = 0;

void complain(const std::string& text) {
    ++wrong;
    std::printf("  %s\n", text.c_str());
    std::fflush(stdout);
}

struct Handles {
    mnn_interpreter_t* net = nullptr;
    mnn_session_t* session = nullptr;
    ~Handles() {
        MUST(mnn_session_destroy(&session));
        MUST(mnn_interpreter_destroy(&net));
    }
};

mnn_status load(Handles& handles, int32_t mode = MNN_LOAD_DEFAULT) {
    mnn_interpreter_options_t options;
    MUST(mnn_interpreter_options_init(&options, sizeof options));
    options.load_mode = mode;
    return mnn_interpreter_create_from_file(path, &options, &handles.net);
}

mnn_status create(Handles& handles, int32_t threads, int32_t forwardType = MNN_FORWARD_CPU) {
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.threads = threads;
    config.forward_type = forwardType;
    return mnn_session_create(handles.net, &config, &handles.session);
}

Bytes compute(Handles& handles) {
    fill(handles.session);
    MUST(mnn_session_run(handles.session));
    return outputs(handles.session);
}

// A call that a fault in the system may make fail with one of these.
struct Subject {
    const char* name;
    std::function<mnn_status(Handles&)> prepare, call;
    std::function<void(Handles&, mnn_status)> check;  // after the fault
};

// Fails each use of `call` within the subject, until none is hit any more.
void walk(const Subject& subject, Call call, int error, Extent extent,
          const std::vector<mnn_status>& allowed) {
    int points = 0, refused = 0;
    for (long n = 1;; ++n) {
        const Left before;
        long hits = 0;
        {
            Handles handles;
            MUST(subject.prepare(handles));
            arm(call, n, extent, error);
            const mnn_status status = subject.call(handles);
            disarm();
            hits = failed();
            const std::string where = std::string(subject.name) + ", " + callName(call) + " " +
                                      std::to_string(n) +
                                      (error ? std::string(" gives ") + strerrorname_np(error) : " is short");
            if (hits && std::find(allowed.begin(), allowed.end(), status) == allowed.end())
                complain(where + ": " + mnn_status_name(status) + ", " + mnn_last_error());
            if (!hits && status != MNN_OK) complain(where + ": failed without a fault, " + mnn_last_error());
            refused += status != MNN_OK;
            if (status != MNN_OK && mnn_last_error()[0] == '\0') complain(where + ": no sentence");
            if (subject.check) subject.check(handles, status);
            if (status != MNN_OK) MUST(subject.call(handles));
            if (!handles.session) MUST(create(handles, 1));
            if (compute(handles) != expected) complain(where + ": other outputs");
        }
        if (!Left().within(before)) {
            complain(std::string(subject.name) + ": memory, threads or descriptors are left");
            printLive();
        }
        if (!hits) break;
        ++points;
    }
    std::printf("  %-34s %-15s %-8s %3d points, %3d with a status\n", subject.name, callName(call),
                error ? strerrorname_np(error) : "short", points, refused);
    std::fflush(stdout);
}

mnn_status nothing(Handles&) {
    return MNN_OK;
}

void loading() {
    const std::vector<mnn_status> file = {MNN_OK, MNN_ERROR_FILE_OPEN_FAILED, MNN_ERROR_FILE_READ_FAILED};
    for (const int32_t mode : {MNN_LOAD_DEFAULT, MNN_LOAD_MAPPED, MNN_LOAD_CHUNKED}) {
        static const char* const names[] = {"load", "load, mapped", "load, chunked"};
        const Subject subject{names[mode], nothing, [mode](Handles& handles) { return load(handles, mode); },
                              nullptr};
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

// What a session reads of the file again, the threads it makes, and what it asks about the machine.
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

// The thread of submitted runs.
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

// ---- The cache file of a GPU session ------------------------------------------------------------------------------

Bytes contentOf(const std::string& file) {
    Bytes bytes;
    FILE* stream = std::fopen(file.c_str(), "rb");
    for (int c; stream && (c = std::fgetc(stream)) != EOF;) bytes.push_back(static_cast<unsigned char>(c));
    if (stream) std::fclose(stream);
    return bytes;
}

void put(const std::string& file, const Bytes& bytes) {
    FILE* stream = std::fopen(file.c_str(), "wb");
    if (!stream || std::fwrite(bytes.data(), 1, bytes.size(), stream) != bytes.size() ||
        std::fclose(stream) != 0)
        stop("cannot write the test's own file");
}

int warnings = 0;
void onLog(void*, int32_t level, const char*) {
    warnings += level <= MNN_LOG_WARNING;
}

void caching() {
    const std::string file = folder + "/cache";
    const Bytes old = {'o', 'l', 'd'};
    const auto prepare = [&](Handles& handles) {
        mnn_interpreter_options_t options;
        MUST(mnn_interpreter_options_init(&options, sizeof options));
        options.log_callback = onLog;
        MUST(mnn_interpreter_create_from_file(path, &options, &handles.net));
        put(file, old);
        return mnn_interpreter_set_cache_file(handles.net, file.c_str());
    };
    const auto whole = [&](const char* when, mnn_status status) {
        const Bytes now = contentOf(file);
        if (status != MNN_OK && now != old) complain(std::string(when) + ": the old cache file is damaged");
        if (status == MNN_OK && std::memcmp(now.data(), "MNNC", std::min<size_t>(now.size(), 4)) != 0)
            complain(std::string(when) + ": the cache file is not complete");
        if (entries_of(folder.c_str()) != 1) complain(std::string(when) + ": a temporary file is left");
    };
    const Subject update{
        "update of a cache file",
        [&](Handles& handles) {
            MUST(prepare(handles));
            MUST(create(handles, 1, MNN_FORWARD_VULKAN));
            put(file, old);
            return MNN_OK;
        },
        [](Handles& handles) { return mnn_interpreter_update_cache_file(handles.net, handles.session); },
        [&](Handles&, mnn_status status) { whole("update", status); }};
    // A cache that cannot be written is a warning, no more.
    const Subject creation{"create with a cache file", prepare,
                           [](Handles& handles) {
                               warnings = 0;
                               return create(handles, 1, MNN_FORWARD_VULKAN);
                           },
                           [&](Handles&, mnn_status status) {
                               whole("create",
                                     status == MNN_OK && warnings ? MNN_ERROR_FILE_WRITE_FAILED : status);
                           }};
    const mnn_status bad = MNN_ERROR_FILE_WRITE_FAILED;
    for (const bool direct : {true, false}) {
        const Subject& subject = direct ? update : creation;
        const std::vector<mnn_status> written = {direct ? bad : MNN_OK};
        for (const int error : {ENOSPC, EIO, EDQUOT, EFBIG})
            walk(subject, Call::Write, error, Extent::Once, written);
        for (const int error : {EIO, ENOSPC}) walk(subject, Call::Sync, error, Extent::Once, written);
        for (const int error : {EACCES, EXDEV, ENOSPC})
            walk(subject, Call::Rename, error, Extent::Once, written);
        for (const int error : {EMFILE, EACCES, EROFS})
            walk(subject, Call::Open, error, Extent::Once,
                 {MNN_OK, direct ? MNN_ERROR_FILE_OPEN_FAILED : MNN_OK});
        // The read of what is there: a miss. A creation reads weights of the model, too.
        const std::vector<mnn_status> read = {MNN_OK, direct ? MNN_OK : MNN_ERROR_FILE_READ_FAILED};
        for (const int error : {EIO, EISDIR}) walk(subject, Call::Read, error, Extent::Once, read);
        walk(subject, Call::Stat, EIO, Extent::Once, read);
        for (const Extent extent : {Extent::Once, Extent::Few}) {
            for (const Call call : {Call::Open, Call::Read, Call::Write, Call::Sync})
                walk(subject, call, EINTR, extent, {MNN_OK});
            walk(subject, Call::Read, 0, extent, {MNN_OK});
            walk(subject, Call::Write, 0, extent, {MNN_OK});
        }
        walk(subject, Call::Close, EIO, Extent::Once, {MNN_OK, bad});
        walk(subject, Call::Close, EINTR, Extent::Once, {MNN_OK});
    }

    // A disk that is full after some bytes, and a limit on the size of files.
    Handles handles;
    MUST(update.prepare(handles));
    for (const long room : {0L, 1L, 50L, 90L}) {
        armFullDisk(room);
        const mnn_status status = update.call(handles);
        disarm();
        if (status != bad) complain(std::string("full disk: ") + mnn_status_name(status));
        whole("full disk", status);
    }
    rlimit before{}, small{};
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 64;
    setrlimit(RLIMIT_FSIZE, &small);
    const mnn_status status = update.call(handles);
    setrlimit(RLIMIT_FSIZE, &before);
    if (status != bad) complain(std::string("limited file size: ") + mnn_status_name(status));
    whole("limited file size", status);
    MUST(update.call(handles));
    whole("afterwards", MNN_OK);
    unlink(file.c_str());
}

// ---- fork ---------------------------------------------------------------------------------------------------------

// Runs body in a child; it returns whether all is well there.
void inChild(const char* what, const std::function<bool()>& body) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(body() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        complain(std::string(what) + ": the child ended with status " + std::to_string(status));
    else
        std::printf("  %s\n", what);
}

void forking(bool vulkan) {
    Handles inherited;
    MUST(load(inherited));
    MUST(create(inherited, 2));
    if (compute(inherited) != expected) complain("before fork");
    inChild("fork: inherited session with 2 threads", [&] {
        const bool same = compute(inherited) == expected;
        MUST(setBatch(inherited.session, 2));
        MUST(mnn_session_resize(inherited.session));
        compute(inherited);
        return same && mnn_session_destroy(&inherited.session) == MNN_OK &&
               mnn_interpreter_destroy(&inherited.net) == MNN_OK;
    });
    inChild("fork: new session with 2 threads", [&] {
        Handles own;
        MUST(load(own));
        MUST(create(own, 2));
        const bool same = compute(own) == expected && thread_count() == 2;
        MUST(create(inherited, 2));  // of the inherited interpreter as well
        return same && compute(inherited) == expected;
    });
    inChild("fork: a child of a child", [&] {
        if (compute(inherited) != expected) return false;
        const pid_t child = fork();
        if (child == 0) _exit(compute(inherited) == expected ? 0 : 1);
        int status = 0;
        waitpid(child, &status, 0);
        return status == 0;
    });
    if (vulkan) {
        Handles gpu;
        MUST(load(gpu));
        MUST(create(gpu, 1, MNN_FORWARD_VULKAN));
        compute(gpu);
        inChild("fork: inherited Vulkan session", [&] {
            fill(gpu.session);
            const mnn_status status = mnn_session_run(gpu.session);
            if (status != MNN_ERROR_BAD_STATE || mnn_last_error()[0] == '\0') return false;
            Handles other;
            MUST(load(other));
            if (create(other, 1, MNN_FORWARD_VULKAN) != MNN_ERROR_BACKEND_MISSING) return false;
            MUST(create(other, 2));
            const bool same = compute(other) == expected;
            return same && mnn_session_destroy(&gpu.session) == MNN_OK &&
                   mnn_interpreter_destroy(&gpu.net) == MNN_OK;
        });
        compute(gpu);
    }
    if (compute(inherited) != expected) complain("after fork");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    path = argv[1];
    char place[] = "/tmp/mnn_c_faults.XXXXXX";
    if (!mkdtemp(place)) return 2;
    folder = place;
    faults::begin();
    {
        Handles handles;
        MUST(load(handles));
        MUST(create(handles, 1));
        expected = compute(handles);
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
        const Bytes onCpu = std::exchange(expected, compute(kept));
        caching();
        expected = onCpu;
    }
    forking(vulkan);
    rmdir(folder.c_str());
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
