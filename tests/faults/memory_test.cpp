// Every n-th request of the library for memory fails, once or from then on, in every phase of a net's life. Each such
// point must end in a status, leak nothing, and leave handles whose next call gives its normal bits.
//
//     memory_test [--vulkan [--cold]] [--backend] [--every K] MODEL...
//
// --every: of each phase's points, every K-th one from the first on, and the last.
// --backend: a backend of the host computes all that it is asked for.
// --cold: no other session keeps the Vulkan device, so that it is made and destroyed at every point; only creation.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "left.h"
#include "life.h"

namespace {

using namespace faults;

void checkLeft(const Left& before) {
    const Left after;
    if (after.blocks > before.blocks) {
        complain("blocks of memory are left", std::to_string(after.blocks - before.blocks).c_str());
        printLive();
        std::exit(1);
    }
    if (!after.within(before)) {
        complain("threads or descriptors are left", "");
        std::exit(1);
    }
}

// Returns how many points were tested.
long walk(Phase phase, Extent extent, long every, Expected& expected, const Left& before) {
    constexpr long kNever = INT64_MAX;
    const long requests = liveThrough({phase, kNever, extent}, expected);
    long points = 0;
    for (long n = 1; n <= requests; ++points) {
        liveThrough({phase, n, extent}, expected);
        checkLeft(before);
        n = n < requests ? std::min(n + every, requests) : n + 1;  // always includes the last one
    }
    return points;
}

}  // namespace

int main(int argc, char** argv) {
    long every = 1;
    bool cold = false;
    std::vector<const char*> models;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--vulkan") == 0)
            subject.forwardType = MNN_FORWARD_VULKAN;
        else if (std::strcmp(argv[i], "--backend") == 0)
            subject.ownBackend = true;
        else if (std::strcmp(argv[i], "--cold") == 0)
            cold = true;
        else if (std::strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            every = std::atol(argv[++i]);
        else
            models.push_back(argv[i]);
    }
    nameSignals();
    faults::begin();

    mnn_interpreter_t* warmNet = nullptr;
    mnn_session_t* warm = nullptr;
    if (subject.forwardType == MNN_FORWARD_VULKAN) {
        size_t devices = 0;
        if (mnn_device_count(MNN_FORWARD_VULKAN, &devices) == MNN_ERROR_BACKEND_MISSING) {
            std::printf("skipped: %s\n", mnn_last_error());
            return 77;
        }
    }
    for (const char* model : models) {
        subject.path = model;
        std::ifstream file(model, std::ios::binary);
        subject.bytes.assign(std::istreambuf_iterator<char>(file), {});
        file.close();
        if (subject.forwardType == MNN_FORWARD_VULKAN && !cold) {
            mnn_schedule_config_t config;
            MUST(mnn_schedule_config_init(&config, sizeof config));
            config.forward_type = subject.forwardType;
            MUST(mnn_interpreter_create_from_file(subject.path, nullptr, &warmNet));
            MUST(mnn_session_create(warmNet, &config, &warm));
        }
        // It runs undisturbed twice: objects that the process creates once and keeps are no leak.
        Expected expected;
        liveThrough({}, expected);
        liveThrough({}, expected);
        const Left before;
        std::printf("%s\n", subject.path);
        for (int phase = 0; phase < PhaseCount; ++phase) {
            if (cold && phase != Create) continue;
            subject.outcomes[phase].clear();
            long points = 0;
            for (const Extent extent : {Extent::Once, Extent::FromThen})
                points += walk(static_cast<Phase>(phase), extent, every, expected, before);
            std::printf("  %-20s %6ld points:", phaseName(phase), points);
            for (const auto& [name, count] : subject.outcomes[phase]) std::printf(" %ld %s;", count, name.c_str());
            std::printf("\n");
            std::fflush(stdout);
        }
        if (warm) MUST(mnn_session_destroy(&warm));
        if (warmNet) MUST(mnn_interpreter_destroy(&warmNet));
    }
    std::printf("%d wrong\n", subject.wrong);
    return subject.wrong != 0;
}
