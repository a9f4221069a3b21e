// Nets of one or two operators with random parameter tables, shapes and contents, through the creation of a session and
// runs: each ends with a result or with a status of the header and a sentence.
//     random_operators [--nets N] [--first SEED] [--op NAME] [--vulkan] [--verbose] [--why] [--save FILE]
// Net i has the seed SEED + i. Nets run in separate processes, so that one that crashes, leaks or does not end is
// reported by its seed and the others continue. Exit code 0: every net succeeded.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <optional>
#include <string>

#include "random_operators/net.h"
#include "session_uses.h"
#include "statuses.h"

namespace {

using fuzz::Random;
namespace wire = mnnc::wire;

constexpr unsigned kSecondsPerNet = 20;  // under a sanitizer on a busy machine
constexpr uint64_t kNetsPerProcess = 500;
constexpr size_t kTypes = 1024;

struct Options {
    uint64_t nets = 3000, first = 1;
    std::optional<wire::OpType> type;
    bool vulkan = false, verbose = false, why = false;
    const char* save = nullptr;
};
Options options;

struct Count {
    uint64_t made, loaded, created, ran;
};

// The counts that a process leaves for the next one.
struct Shared {
    uint64_t seed;
    Count counts[kTypes];
};

// Prints the first sentence of each kind that says why a net does not run.
void explain(const char* step, uint64_t seed) {
    if (options.why) std::printf("%s, seed %llu: %s\n", step, static_cast<unsigned long long>(seed), mnn_last_error());
}

void use(const fuzz::RandomNet& net, uint64_t seed, Count& count) {
    ++count.made;
    Random random(seed ^ 0x5eed);
    mnn_interpreter_options_t loading;
    MUST(mnn_interpreter_options_init(&loading, sizeof loading));
    loading.load_mode = MNN_LOAD_BORROW;
    mnn_interpreter_t* interpreter = nullptr;
    if (!fuzz::fine(mnn_interpreter_create_from_memory(net.model.data(), net.model.size(), &loading, &interpreter),
                    "load", {fuzz::kLoad}))
        return explain("load", seed);
    ++count.loaded;
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.max_memory_bytes = fuzz::kMaxMemory;
    config.max_loop_iterations = 100;
    if (options.vulkan) config.forward_type = MNN_FORWARD_VULKAN;
    config.threads = random.oneIn(16) ? 2 : 1;
    if (random.oneIn(8)) config.precision = MNN_PRECISION_LOW;
    if (random.oneIn(8)) config.memory = MNN_MEMORY_LOW;
    if (random.oneIn(8)) config.cpu_isa = "portable";
    mnn_session_t* session = nullptr;
    if (fuzz::fine(mnn_session_create(interpreter, &config, &session), "create", {fuzz::kPlanning, fuzz::kCreate})) {
        ++count.created;
        const auto uses = fuzz::useSession(session, random, random.oneIn(4) ? 1 : 0, random.oneIn(16));
        count.ran += uses.ran;
        if (!uses.ran) explain("run", seed);
        MUST(mnn_session_destroy(&session));
    } else {
        explain("session", seed);
    }
    MUST(mnn_interpreter_destroy(&interpreter));
}

void runNet(uint64_t seed, Shared& shared) {
    shared.seed = seed;
    const fuzz::RandomNet net = fuzz::randomNet(seed, options.type ? &*options.type : nullptr);
    if (options.save)
        std::ofstream(options.save, std::ios::binary)
            .write(reinterpret_cast<const char*>(net.model.data()), static_cast<std::streamsize>(net.model.size()));
    alarm(kSecondsPerNet);
    use(net, seed, shared.counts[static_cast<size_t>(net.type)]);
    alarm(0);
}

// Returns how many failed.
uint64_t runAll(Shared& shared) {
    uint64_t failures = 0;
    const uint64_t end = options.first + options.nets;
    for (uint64_t begin = options.first; begin < end;) {
        const uint64_t stop = std::min(begin + kNetsPerProcess, end);
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            for (uint64_t seed = begin; seed < stop; ++seed) runNet(seed, shared);
            std::exit(0);  // the exit checks for leaks
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child) return ++failures;
        const auto last = static_cast<unsigned long long>(shared.seed);
        begin = stop;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        ++failures;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            std::printf("FAILED: seed %llu does not end within %u s\n", last, kSecondsPerNet);
        else if (WIFEXITED(status) && WEXITSTATUS(status) == 23)  // the status of the leak checker
            std::printf("FAILED: a leak after one of the seeds before %llu, or that one (exit status %d)\n", last + 1,
                        WEXITSTATUS(status));
        else
            std::printf("FAILED: seed %llu (wait status %d)\n", last, status);
        begin = shared.seed + 1;
    }
    return failures;
}

void report(const Shared& shared) {
    Count all{};
    for (const wire::OpType type : wire::EnumValuesOpType()) {
        const Count& count = shared.counts[static_cast<size_t>(type)];
        all.made += count.made;
        all.loaded += count.loaded;
        all.created += count.created;
        all.ran += count.ran;
        if (options.verbose && count.made)
            std::printf("%-26s %7llu nets, %7llu loaded, %7llu sessions, %7llu ran\n", wire::EnumNameOpType(type),
                        static_cast<unsigned long long>(count.made), static_cast<unsigned long long>(count.loaded),
                        static_cast<unsigned long long>(count.created), static_cast<unsigned long long>(count.ran));
    }
    std::printf("%llu nets, %llu loaded, %llu got a session, %llu ran\n", static_cast<unsigned long long>(all.made),
                static_cast<unsigned long long>(all.loaded), static_cast<unsigned long long>(all.created),
                static_cast<unsigned long long>(all.ran));
}

bool readOptions(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const char* next = i + 1 < argc ? argv[i + 1] : nullptr;
        if (word == "--vulkan") {
            options.vulkan = true;
        } else if (word == "--verbose") {
            options.verbose = true;
        } else if (word == "--why") {
            options.why = true;
        } else if (!next) {
            return false;
        } else if (++i; word == "--nets") {
            options.nets = std::strtoull(next, nullptr, 10);
        } else if (word == "--first") {
            options.first = std::strtoull(next, nullptr, 10);
        } else if (word == "--save") {
            options.save = next;
        } else if (word == "--op") {
            for (const wire::OpType type : wire::EnumValuesOpType())
                if (std::strcmp(next, wire::EnumNameOpType(type)) == 0) options.type = type;
            if (!options.type) return false;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (!readOptions(argc, argv)) {
        std::fprintf(stderr,
                     "usage: %s [--nets N] [--first SEED] [--op NAME] [--vulkan] [--verbose] [--why] "
                     "[--save FILE]\n",
                     argv[0]);
        return 2;
    }
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    auto& shared = *static_cast<Shared*>(memory);
    const uint64_t failures = runAll(shared);
    report(shared);
    if (failures) std::printf("%llu failures\n", static_cast<unsigned long long>(failures));
    munmap(memory, sizeof(Shared));
    return failures ? 1 : 0;
}
