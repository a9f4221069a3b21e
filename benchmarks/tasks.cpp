// Shows, on a machine with few CPUs, how well each operator of a net would use many threads. The net runs on a pool of
// this program, which claims to have the given number of threads and computes all tasks one after another. The program
// counts the tasks into which each operator cuts its work (at most as many as there are threads), and times what it
// computes outside of tasks.
//
//     benchmarks/mnn_c_tasks NET.mnn [--threads 8,16] [--isa avx2] [--runs 15] [--top 10]
//
// The shortest time of an operator is the time of its serial part, plus for each of its jobs the time divided by the
// number of tasks. The sum over all operators is a lower bound: it leaves out that tasks take different times, that
// starting threads costs time, and that all threads share the memory. The line for two threads compares it with a run
// on threads of the library.
#include <mnn_c.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void require(mnn_status status) {
    if (status == MNN_OK) return;
    std::fprintf(stderr, "mnn_c_tasks: %s\n", mnn_last_error());
    std::exit(1);
}

// The work of one operator in one run, in milliseconds.
struct Work {
    std::string name, type;
    double total = 0;
    double inJobs = 0;   // of the total
    double minTime = 0;  // of the jobs, with one thread for each task
    int32_t fewestTasks = 0, jobs = 0;

    double bound() const { return total - inJobs + minTime; }
};

struct Recorder {
    bool recording = false;
    std::vector<Work> works;  // the operators of the present run, in order
    Work present;
    double begin = 0;

    static void parallelFor(void* user, mnn_task task, void* context, int32_t count) {
        auto& own = *static_cast<Recorder*>(user);
        const double start = now();
        for (int32_t i = 0; i < count; ++i) task(context, i);
        if (!own.recording) return;
        const double time = now() - start;
        Work& work = own.present;
        work.inJobs += time;
        work.minTime += time / count;
        work.fewestTasks = work.jobs++ == 0 ? count : std::min(work.fewestTasks, count);
    }
    static int32_t before(void* user, const mnn_op_info_t*, const mnn_tensor_t* const*, size_t) {
        auto& own = *static_cast<Recorder*>(user);
        own.present = {};
        own.recording = true;
        own.begin = now();
        return MNN_OP_RUN;
    }
    static int32_t after(void* user, const mnn_op_info_t* op, const mnn_tensor_t* const*, size_t) {
        auto& own = *static_cast<Recorder*>(user);
        if (!own.recording) return MNN_OP_RUN;  // it was computed together with the one before
        own.recording = false;
        own.present.total = now() - own.begin;
        own.present.name = op->name;
        own.present.type = op->type_name;
        own.works.push_back(own.present);
        return MNN_OP_RUN;
    }
};

// Resizes and writes the inputs: open extents become 4; floats are numbers from 0 to 1 (by the generator in Numerical
// Recipes), integers 1.
void prepare(mnn_session_t* session) {
    size_t inputs = 0;
    bool open = false;
    require(mnn_session_input_count(session, &inputs));
    for (size_t i = 0; i < inputs; ++i) {
        mnn_tensor_t* input = nullptr;
        int32_t extents[MNN_MAX_RANK];
        size_t rank = 0;
        require(mnn_session_input_at(session, i, &input));
        require(mnn_tensor_shape(input, extents, MNN_MAX_RANK, &rank));
        for (size_t k = 0; k < rank; ++k) {
            if (extents[k] >= 0) continue;
            extents[k] = 4;
            open = true;
        }
        require(mnn_session_resize_input(session, input, extents, rank));
    }
    if (open) require(mnn_session_resize(session));
    for (size_t i = 0; i < inputs; ++i) {
        mnn_tensor_t* input = nullptr;
        size_t count = 0;
        require(mnn_session_input_at(session, i, &input));
        require(mnn_tensor_element_count(input, &count));
        mnn_tensor_properties_t info = {};
        info.struct_size = sizeof info;
        require(mnn_tensor_info(input, &info));
        std::vector<float> values(count, 1);
        uint32_t state = 1;
        for (size_t k = 0; k < count && info.type == MNN_TYPE_FLOAT32; ++k) {
            state = state * 1664525U + 1013904223U;
            values[k] = static_cast<float>(state >> 8U) / 16777216.0F;
        }
        require(mnn_tensor_write_as(input, values.data(), count * sizeof(float), MNN_TYPE_FLOAT32, MNN_FORMAT_NCHW));
    }
}

struct Options {
    const char* net = nullptr;
    std::vector<int> threads = {8, 16};
    const char* isa = nullptr;
    int runs = 15;
    size_t top = 10;
};

class Net {
  public:
    explicit Net(const Options& options) : options_(options) {
        require(mnn_interpreter_create_from_file(options.net, nullptr, &interpreter_));
    }
    ~Net() { mnn_interpreter_destroy(&interpreter_); }
    Net(const Net&) = delete;
    Net& operator=(const Net&) = delete;

    // Returns the shortest time of a run with threads of the library, in milliseconds.
    double measure(int threads) {
        mnn_schedule_config_t config = configOf(threads);
        mnn_session_t* session = nullptr;
        require(mnn_session_create(interpreter_, &config, &session));
        prepare(session);
        double shortest = 0;
        for (int i = 0; i < options_.runs + 2; ++i) {
            const double begin = now();
            require(mnn_session_run(session));
            const double time = now() - begin;
            if (i == 0 || time < shortest) shortest = time;
        }
        mnn_session_destroy(&session);
        return shortest;
    }

    // Returns the operators in order, each as in the run in which it was fastest.
    std::vector<Work> record(int threads) {
        Recorder recorder;
        mnn_runtime_config_t host;
        require(mnn_runtime_config_init(&host, sizeof host));
        host.threads = threads;
        host.parallel_for = Recorder::parallelFor;
        host.parallel_for_user_data = &recorder;
        mnn_schedule_config_t config = configOf(threads);
        require(mnn_runtime_create(&host, &config.runtime));
        mnn_session_t* session = nullptr;
        require(mnn_session_create(interpreter_, &config, &session));
        prepare(session);
        mnn_run_options_t run;
        require(mnn_run_options_init(&run, sizeof run));
        run.before = Recorder::before;
        run.after = Recorder::after;
        run.user_data = &recorder;
        std::vector<Work> best;
        for (int i = 0; i < options_.runs + 2; ++i) {
            recorder.works.clear();
            require(mnn_session_run_with_options(session, &run));
            if (best.size() != recorder.works.size()) best = recorder.works;
            for (size_t k = 0; k < best.size(); ++k)
                if (recorder.works[k].total < best[k].total) best[k] = recorder.works[k];
        }
        mnn_session_destroy(&session);
        mnn_runtime_destroy(&config.runtime);
        return best;
    }

  private:
    mnn_schedule_config_t configOf(int threads) const {
        mnn_schedule_config_t config;
        require(mnn_schedule_config_init(&config, sizeof config));
        config.threads = threads;
        config.cpu_isa = options_.isa;
        return config;
    }

    const Options& options_;
    mnn_interpreter_t* interpreter_ = nullptr;
};

struct Sums {
    double total = 0, bound = 0;
};

Sums sumsOf(const std::vector<Work>& works) {
    Sums sums;
    for (const Work& work : works) {
        sums.total += work.total;
        sums.bound += work.bound();
    }
    return sums;
}

// Prints the operators that lose most against an even division of their work.
void printLosses(std::vector<Work> works, int threads, size_t top) {
    const auto lost = [&](const Work& work) { return work.bound() - work.total / threads; };
    std::sort(works.begin(), works.end(), [&](const Work& a, const Work& b) { return lost(a) > lost(b); });
    std::printf("    lost ms  of one thread  serial  jobs  fewest tasks  operator\n");
    for (size_t i = 0; i < std::min(top, works.size()) && lost(works[i]) > 0.001; ++i) {
        const Work& work = works[i];
        std::printf("  %9.4f  %10.4f ms  %5.1f%%  %4d  %12d  %s %s\n", lost(work), work.total,
                    100 * (work.total - work.inJobs) / work.total, work.jobs, work.fewestTasks, work.type.c_str(),
                    work.name.c_str());
    }
}

[[noreturn]] void usage() {
    std::fprintf(stderr, "usage: mnn_c_tasks NET.mnn [--threads 8,16] [--isa avx2] [--runs N] [--top N]\n");
    std::exit(2);
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.rfind("--", 0) != 0) {
            options.net = argv[i];
            continue;
        }
        if (i + 1 == argc) usage();
        const std::string value = argv[++i];
        if (word == "--threads") {
            options.threads.clear();
            std::istringstream list(value);
            for (std::string each; std::getline(list, each, ',');) options.threads.push_back(std::atoi(each.c_str()));
        } else if (word == "--isa") {
            options.isa = argv[i];
        } else if (word == "--runs") {
            options.runs = std::atoi(value.c_str());
        } else if (word == "--top") {
            options.top = static_cast<size_t>(std::atoi(value.c_str()));
        } else {
            usage();
        }
    }
    if (!options.net) usage();
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    Net net(options);
    const double one = net.measure(1), two = net.measure(2);
    const double bound = sumsOf(net.record(2)).bound;
    std::printf("%s: one thread %.3f ms, two threads %.3f ms, at best %.3f ms (%.3f of that)\n", options.net, one, two,
                bound, two / bound);
    for (const int threads : options.threads) {
        const std::vector<Work> works = net.record(threads);
        const Sums sums = sumsOf(works);
        std::printf("  %d threads: at best %.3f ms, the tasks one after another %.3f ms: %.1f times as fast\n", threads,
                    sums.bound, sums.total, sums.total / sums.bound);
        printLosses(works, threads, options.top);
    }
    return 0;
}
