// Every n-th request of the library for memory fails, once or from then on, in every phase of a net's life. Each such
// point has to end in a status, leak nothing, and leave handles whose next call gives the bits it gives undisturbed.
//
//     memory_test [--vulkan [--cold]] [--backend] [--every K] MODEL...
//
// --every: of each phase's points, every K-th one from the first on, and the last.
// --backend: a backend of the host computes all that it is asked for.
// --cold: no other session keeps the Vulkan device, so that it is made and destroyed at every point; only creation.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "interpose.h"
#include "left.h"
#include "middle_tensor.h"
#include "net.h"
#include "own.h"

namespace {

using namespace faults;

enum Phase {
    Load,
    Borrow,
    Declare,
    Register,
    Backend,
    Create,
    Resize,
    Run,
    Submit,
    Bind,
    BoundRun,
    Callbacks,
    Cancel,
    Return,
    Trim,
    CreatePaths,
    ResizePaths,
    Release,
    Destroy,
    PhaseCount
};
constexpr const char* kPhases[] = {"load",          "borrow",           "declare",   "register",
                                   "backend",       "create",           "resize",    "run",
                                   "submit",        "bind to a device", "bound run", "run with callbacks",
                                   "cancelled run", "return",           "trim",      "create paths",
                                   "resize paths",  "release",          "destroy"};

struct Point {
    Phase phase = PhaseCount;
    long n = 0;
    Extent extent = Extent::Once;
};

int32_t forwardType = MNN_FORWARD_CPU;
bool ownBackend = false;
const char* path = "";
Bytes modelBytes;  // of path
Point now;
int wrong = 0;
std::map<std::string, long> outcomes[PhaseCount];

void complain(const char* what, const char* detail) {
    ++wrong;
    std::printf("  %s, %s, request %ld %s: %s%s%s\n", path, kPhases[now.phase], now.n,
                now.extent == Extent::Once ? "once" : "and all that follow", what, *detail ? ": " : "",
                detail);
    std::fflush(stdout);
}

void onSignal(int number) {
    char text[160];
    const int length = std::snprintf(text, sizeof text, "  signal %d at %s, request %ld, extent %d\n", number,
                                     kPhases[now.phase], now.n, static_cast<int>(now.extent));
    static_cast<void>(!write(1, text, static_cast<size_t>(length)));
    std::signal(number, SIG_DFL);
    std::raise(number);
}

// ---- One life, with requests that fail in one phase -----------------------------------------------------------------

class Life {
  public:
    explicit Life(const Point& point) : point_(point) {}

    // Makes the call while requests fail where it is this life's turn, then again without: that has to succeed.
    void call(Phase phase, const std::function<mnn_status()>& body, mnn_status wanted = MNN_OK) {
        if (phase != point_.phase || seen_ >= 0) {
            judge(body(), wanted, "");
            return;
        }
        arm(Call::Memory, point_.n, point_.extent, ENOMEM);
        const mnn_status status = body();
        if (point_.extent == Extent::FromThen && status != wanted) {
            const mnn_status again = body();  // nor does a second try without memory do harm
            if (again != MNN_ERROR_OUT_OF_MEMORY && again != wanted)
                complain("a second try", mnn_status_name(again));
        }
        seen_ = disarm();
        if (failed() == 0) {
            judge(status, wanted, "without a failed request");
            return;
        }
        ++outcomes[phase][status == wanted ? "as undisturbed" : mnn_status_name(status)];
        if (status == wanted) return;
        if (status != MNN_ERROR_OUT_OF_MEMORY) complain(mnn_status_name(status), mnn_last_error());
        if (mnn_last_error()[0] == '\0') complain("no sentence", "");
        judge(body(), wanted, "the next call");
    }
    long seen() const { return seen_; }

  private:
    void judge(mnn_status status, mnn_status wanted, const char* when) {
        if (status == wanted) return;
        complain(*when ? when : mnn_status_name(status), mnn_last_error());
        std::exit(1);
    }
    const Point point_;
    long seen_ = -1;
};

struct Watched {
    mnn_cancel_t* cancel = nullptr;
    long before = 0, after = 0;
};
int32_t countBefore(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    ++static_cast<Watched*>(user)->before;
    return MNN_OP_RUN;
}
int32_t countAfter(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    ++static_cast<Watched*>(user)->after;
    return MNN_OP_RUN;
}
int32_t cancelAtFirst(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
    MUST(mnn_cancel_trigger(static_cast<Watched*>(user)->cancel));
    return MNN_OP_RUN;
}

// Bytes and weights that are lent to an interpreter: a call that fails gives both back, once.
struct Lent {
    int calls = 0, bytes = 0, weights = 0;
    mnn_status load(mnn_interpreter_t** net) {
        mnn_interpreter_options_t options;
        MUST(mnn_interpreter_options_init(&options, sizeof options));
        options.load_mode = MNN_LOAD_BORROW;
        options.bytes_finalizer = [](void* lent) { ++static_cast<Lent*>(lent)->bytes; };
        options.bytes_user_data = options.external_weight_user_data = this;
        options.external_weight_reader = [](void*, uint64_t, void*, size_t) -> mnn_status { return MNN_OK; };
        options.external_weight_size = 1;
        options.external_weight_finalizer = [](void* lent) { ++static_cast<Lent*>(lent)->weights; };
        ++calls;
        const mnn_status status =
            mnn_interpreter_create_from_memory(modelBytes.data(), modelBytes.size(), &options, net);
        check(status == MNN_OK ? calls - 1 : calls);
        return status;
    }
    void check(int returned) const {
        if (bytes != returned || weights != returned) complain("what was lent was not given back once", "");
    }
};

struct Expected {
    Bytes created, resized, paths, resizedPaths;
    long operators = -1;
};

void compare(const mnn_session_t* session, const Bytes& wanted, const char* when) {
    if (outputs(session) != wanted) complain("other outputs than undisturbed", when);
}

// The net in two paths that meet half-way.
void liveInPaths(Life& life, mnn_interpreter_t* net, Expected& expected, bool first) {
    const char* middle = middle_tensor(net);
    if (!middle) return;
    mnn_schedule_config_t configs[2];
    for (mnn_schedule_config_t& config : configs) MUST(mnn_schedule_config_init(&config, sizeof config));
    configs[0].forward_type = forwardType;
    configs[0].outputs = &middle;
    configs[0].output_count = 1;
    mnn_session_t* session = nullptr;
    life.call(CreatePaths, [&] { return mnn_session_create_paths(net, configs, 2, &session); });
    fill(session);
    MUST(mnn_session_run(session));
    if (first) expected.paths = outputs(session);
    compare(session, expected.paths, "after the first run of paths");
    mnn_tensor_t* input = nullptr;
    MUST(mnn_session_input_at(session, 0, &input));
    MUST(setBatch(session, shapeOf(input).at(0) + 1));
    life.call(ResizePaths, [&] { return mnn_session_resize(session); });
    fill(session);
    MUST(mnn_session_run(session));
    if (first) expected.resizedPaths = outputs(session);
    compare(session, expected.resizedPaths, "after the resize of paths");
    MUST(mnn_session_destroy(&session));
}

// The first output, and the input where any values do, in memory of the device that the session makes; then back.
void liveInBuffers(Life& life, mnn_session_t* session) {
    mnn_device_buffer_t made;
    MUST(mnn_device_buffer_init(&made, sizeof made));
    made.kind = MNN_BUFFER_OPAQUE_FD;
    made.allocate = 1;
    mnn_tensor_t *input = nullptr, *output = nullptr;
    int32_t type = 0;
    MUST(mnn_session_input_at(session, 0, &input));
    MUST(mnn_session_output_at(session, 0, &output));
    MUST(mnn_tensor_type(input, &type));
    const bool both = inputCount(session) == 1 && type == MNN_TYPE_FLOAT32;
    const auto bind = [&] {
        const mnn_status first = both ? mnn_session_bind_input_buffer(session, input, &made) : MNN_OK;
        if (first != MNN_OK) return first;
        const mnn_status second = mnn_session_bind_output_buffer(session, output, &made);
        return second == MNN_ERROR_BAD_STATE ? MNN_OK : second;  // only a run knows its size
    };
    const mnn_status there = bind();
    MUST(mnn_session_bind_output_buffer(session, output, nullptr));
    if (both) MUST(mnn_session_bind_input_buffer(session, input, nullptr));
    if (there == MNN_ERROR_NOT_SUPPORTED) return;  // a driver without such memory
    life.call(Bind, bind);
    life.call(BoundRun, [&] { return mnn_session_run(session); });
    MUST(mnn_session_bind_output_buffer(session, output, nullptr));
    if (both) MUST(mnn_session_bind_input_buffer(session, input, nullptr));
    fill(session);
    MUST(mnn_session_run(session));
}

// Returns how many requests the phase of the point made.
long live(const Point& point, Expected& expected) {
    now = point;
    Life life(point);
    const bool first = expected.operators < 0;
    mnn_interpreter_t* net = nullptr;
    mnn_session_t* session = nullptr;
    life.call(Load, [&] { return mnn_interpreter_create_from_file(path, nullptr, &net); });
    Lent lent;
    mnn_interpreter_t* borrower = nullptr;
    life.call(Borrow, [&] { return lent.load(&borrower); });
    MUST(mnn_interpreter_destroy(&borrower));
    lent.check(lent.calls);
    mnn_declaration_t declaration{};
    declaration.struct_size = sizeof declaration;
    life.call(Declare, [&] { return mnn_interpreter_output_info(net, 0, &declaration); });
    Own own;
    life.call(Register, [&] { return own.add(net); });
    mnn_schedule_config_t config;
    MUST(mnn_schedule_config_init(&config, sizeof config));
    config.forward_type = forwardType;
    config.threads = 2;
    OwnBackend backend;
    if (ownBackend) {
        MUST(mnn_runtime_create(nullptr, &backend.runtime));
        life.call(Backend, [&] { return backend.add(); });
        config.runtime = backend.runtime;
        config.forward_type = backend.forwardType;
    }
    life.call(Create, [&] { return mnn_session_create(net, &config, &session); });
    const auto run = [&] { return mnn_session_run(session); };
    fill(session);
    // Of the created session, too: what lies between stages and in branches is planned by the first run.
    life.call(Run, run);
    if (first) expected.created = outputs(session);
    compare(session, expected.created, "after the first run");

    // The first one, which makes the thread.
    life.call(Submit, [&] {
        const mnn_status status = mnn_session_submit(session, nullptr);
        return status != MNN_OK ? status : mnn_session_wait(session, -1);
    });
    compare(session, expected.created, "after a submitted run");
    if (forwardType == MNN_FORWARD_VULKAN) {
        liveInBuffers(life, session);
        compare(session, expected.created, "after runs in buffers of the device");
    }

    int32_t batch = 0;
    {
        mnn_tensor_t* input = nullptr;
        MUST(mnn_session_input_at(session, 0, &input));
        batch = shapeOf(input).at(0);
    }
    MUST(setBatch(session, batch + 1));
    life.call(Resize, [&] { return mnn_session_resize(session); });
    fill(session);
    MUST(run());
    if (first) expected.resized = outputs(session);
    compare(session, expected.resized, "after the resize");

    Watched watched;
    mnn_run_options_t options;
    MUST(mnn_run_options_init(&options, sizeof options));
    options.before = countBefore;
    options.after = countAfter;
    options.user_data = &watched;
    const auto runWithOptions = [&] {
        watched.before = watched.after = 0;
        return mnn_session_run_with_options(session, &options);
    };
    life.call(Callbacks, runWithOptions);
    if (first) expected.operators = watched.before;
    if (watched.before != expected.operators || watched.after != expected.operators)
        complain("callbacks were left out", "");
    compare(session, expected.resized, "after a run with callbacks");

    MUST(mnn_cancel_create(&watched.cancel));
    options.cancel = watched.cancel;
    options.before = cancelAtFirst;
    options.after = nullptr;
    // What a device takes in one go ends before a cancellation is seen.
    if (forwardType != MNN_FORWARD_CPU) MUST(mnn_cancel_trigger(watched.cancel));
    life.call(Cancel, runWithOptions, MNN_ERROR_CANCELLED);
    MUST(mnn_cancel_destroy(&watched.cancel));
    MUST(run());
    compare(session, expected.resized, "after a cancelled run");

    // Back to the first shape, whose plan is kept.
    MUST(setBatch(session, batch));
    life.call(Return, [&] { return mnn_session_resize(session); });
    fill(session);
    MUST(run());
    compare(session, expected.created, "after the second resize");
    life.call(Trim, [&] { return mnn_session_trim(session); });
    bool needed = false;  // where a GPU could not take the smaller memory
    MUST(mnn_session_needs_resize(session, &needed));
    if (needed) {
        MUST(mnn_session_resize(session));
        fill(session);
        MUST(run());
    }
    compare(session, expected.created, "after the trim");
    MUST(setBatch(session, batch + 1));
    MUST(mnn_session_resize(session));
    fill(session);
    MUST(run());
    compare(session, expected.resized, "after the third resize");
    liveInPaths(life, net, expected, first);

    life.call(Release, [&] { return mnn_interpreter_release_model(net); });
    MUST(run());
    compare(session, expected.resized, "after the release");

    // From then on: nothing is left for cleaning up, whichever phase failed.
    if (point.extent == Extent::FromThen && point.phase != Destroy)
        arm(Call::Memory, 1, Extent::FromThen, ENOMEM);
    life.call(Destroy, [&] {
        const mnn_status status = mnn_session_destroy(&session);
        return status != MNN_OK ? status : mnn_interpreter_destroy(&net);
    });
    disarm();
    MUST(mnn_runtime_destroy(&backend.runtime));
    if (backend.finalized != (ownBackend ? 1 : 0)) complain("the backend was not finalized once", "");
    if (session || net) complain("a handle is left", "");
    if (own.finalized != 1) complain("the operator was not finalized once", "");
    return life.seen();
}

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

// Returns how many points were taken.
long walk(Phase phase, Extent extent, long every, Expected& expected, const Left& before) {
    constexpr long kNever = INT64_MAX;
    const long requests = live({phase, kNever, extent}, expected);
    long points = 0;
    for (long n = 1; n <= requests; ++points) {
        live({phase, n, extent}, expected);
        checkLeft(before);
        n = n < requests ? std::min(n + every, requests) : n + 1;  // the last one always
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
            forwardType = MNN_FORWARD_VULKAN;
        else if (std::strcmp(argv[i], "--backend") == 0)
            ownBackend = true;
        else if (std::strcmp(argv[i], "--cold") == 0)
            cold = true;
        else if (std::strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            every = std::atol(argv[++i]);
        else
            models.push_back(argv[i]);
    }
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM})
        std::signal(number, onSignal);
    faults::begin();

    mnn_interpreter_t* warmNet = nullptr;
    mnn_session_t* warm = nullptr;
    if (forwardType == MNN_FORWARD_VULKAN) {
        size_t devices = 0;
        if (mnn_device_count(MNN_FORWARD_VULKAN, &devices) == MNN_ERROR_BACKEND_MISSING) {
            std::printf("skipped: %s\n", mnn_last_error());
            return 77;
        }
    }
    for (const char* model : models) {
        path = model;
        std::ifstream file(path, std::ios::binary);
        modelBytes.assign(std::istreambuf_iterator<char>(file), {});
        file.close();
        if (forwardType == MNN_FORWARD_VULKAN && !cold) {
            mnn_schedule_config_t config;
            MUST(mnn_schedule_config_init(&config, sizeof config));
            config.forward_type = forwardType;
            MUST(mnn_interpreter_create_from_file(path, nullptr, &warmNet));
            MUST(mnn_session_create(warmNet, &config, &warm));
        }
        // Undisturbed, twice: what the process makes once and keeps is no leak.
        Expected expected;
        live({}, expected);
        live({}, expected);
        const Left before;
        std::printf("%s\n", path);
        for (int phase = 0; phase < PhaseCount; ++phase) {
            if (cold && phase != Create) continue;
            outcomes[phase].clear();
            long points = 0;
            for (const Extent extent : {Extent::Once, Extent::FromThen})
                points += walk(static_cast<Phase>(phase), extent, every, expected, before);
            std::printf("  %-20s %6ld points:", kPhases[phase], points);
            for (const auto& [name, count] : outcomes[phase]) std::printf(" %ld %s;", count, name.c_str());
            std::printf("\n");
            std::fflush(stdout);
        }
        if (warm) MUST(mnn_session_destroy(&warm));
        if (warmNet) MUST(mnn_interpreter_destroy(&warmNet));
    }
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
