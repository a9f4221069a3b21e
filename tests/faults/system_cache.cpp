// The cache file of a GPU session: it is replaced completely or not at all.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "left.h"
#include "system.h"

namespace faults {
namespace {

Bytes contentOf(const std::string& file) {
    Bytes bytes;
    FILE* stream = std::fopen(file.c_str(), "rb");
    for (int c; stream && (c = std::fgetc(stream)) != EOF;) bytes.push_back(static_cast<unsigned char>(c));
    if (stream) std::fclose(stream);
    return bytes;
}

void put(const std::string& file, const Bytes& bytes) {
    FILE* stream = std::fopen(file.c_str(), "wb");
    if (!stream || std::fwrite(bytes.data(), 1, bytes.size(), stream) != bytes.size() || std::fclose(stream) != 0)
        stop("cannot write the test's own file");
}

int warnings = 0;
void onLog(void*, int32_t level, const char*) {
    warnings += level <= MNN_LOG_WARNING;
}

}  // namespace

void testCaching() {
    const std::string file = tested.folder + "/cache";
    const Bytes old = {'o', 'l', 'd'};
    const auto prepare = [&](Handles& handles) {
        mnn_interpreter_options_t options;
        MUST(mnn_interpreter_options_init(&options, sizeof options));
        options.log_callback = onLog;
        MUST(mnn_interpreter_create_from_file(tested.path, &options, &handles.net));
        put(file, old);
        return mnn_interpreter_set_cache_file(handles.net, file.c_str());
    };
    const auto whole = [&](const char* when, mnn_status status) {
        const Bytes now = contentOf(file);
        if (status != MNN_OK && now != old) complain(std::string(when) + ": the old cache file is damaged");
        if (status == MNN_OK && std::memcmp(now.data(), "MNNC", std::min<size_t>(now.size(), 4)) != 0)
            complain(std::string(when) + ": the cache file is not complete");
        if (entries_of(tested.folder.c_str()) != 1) complain(std::string(when) + ": a temporary file is left");
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
    // A cache that cannot be written causes only a warning.
    const Subject creation{"create with a cache file", prepare,
                           [](Handles& handles) {
                               warnings = 0;
                               return create(handles, 1, MNN_FORWARD_VULKAN);
                           },
                           [&](Handles&, mnn_status status) {
                               whole("create", status == MNN_OK && warnings ? MNN_ERROR_FILE_WRITE_FAILED : status);
                           }};
    const mnn_status bad = MNN_ERROR_FILE_WRITE_FAILED;
    for (const bool direct : {true, false}) {
        const Subject& subject = direct ? update : creation;
        const std::vector<mnn_status> written = {direct ? bad : MNN_OK};
        for (const int error : {ENOSPC, EIO, EDQUOT, EFBIG}) walk(subject, Call::Write, error, Extent::Once, written);
        for (const int error : {EIO, ENOSPC}) walk(subject, Call::Sync, error, Extent::Once, written);
        for (const int error : {EACCES, EXDEV, ENOSPC}) walk(subject, Call::Rename, error, Extent::Once, written);
        for (const int error : {EMFILE, EACCES, EROFS})
            walk(subject, Call::Open, error, Extent::Once, {MNN_OK, direct ? MNN_ERROR_FILE_OPEN_FAILED : MNN_OK});
        // Failing to read the present cache is a miss. A creation also reads weights of the model.
        const std::vector<mnn_status> read = {MNN_OK, direct ? MNN_OK : MNN_ERROR_FILE_READ_FAILED};
        for (const int error : {EIO, EISDIR}) walk(subject, Call::Read, error, Extent::Once, read);
        // This includes the file that is replaced, and the one that replaces it.
        std::vector<mnn_status> examined = read;
        if (direct) examined.insert(examined.end(), {MNN_ERROR_FILE_OPEN_FAILED, bad});
        walk(subject, Call::Stat, EIO, Extent::Once, examined);
        walk(subject, Call::Mode, EPERM, Extent::Once, written);
        if (direct) walk(subject, Call::Open, EEXIST, Extent::Few, {MNN_OK});  // names that are taken
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

}  // namespace faults
