// Every n-th request for memory of each public function fails, once or from then on. Each such point must end in a
// status, leak nothing, and leave handles whose next call gives its normal result. Every function that the libraries
// export is called; the program prints how many requests each makes.
//
//     functions_test [--vulkan] [--every K] [--only NAME]
//
// --every: of each call's points, every K-th one from the first on, and the last.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string_view>

#include "functions.h"
#include "left.h"

#ifdef MNN_C_IMAGE_EXPORTS_FILE
#include "mnn_c_image.h"
#endif
#ifdef MNN_C_ONNX_EXPORTS_FILE
#include "mnn_c_onnx.h"
#endif

namespace {

using namespace faults;

struct Point {
    const Function* function = nullptr;
    long n = 0;
    Extent extent = Extent::Once;
};
Point now;
int wrong = 0;

const char* sentenceOf([[maybe_unused]] const Function& function) {
#ifdef MNN_C_IMAGE_EXPORTS_FILE
    if (std::strncmp(function.name, "mnn_image_", 10) == 0) return mnn_image_last_error();
#endif
#ifdef MNN_C_ONNX_EXPORTS_FILE
    if (std::strncmp(function.name, "mnn_onnx_", 9) == 0) return mnn_onnx_last_error();
#endif
    return mnn_last_error();
}

void complain(const char* what, const char* detail) {
    ++wrong;
    std::printf("  %s %s, request %ld %s: %s%s%s\n", now.function->name, now.function->use, now.n,
                now.extent == Extent::Once ? "once" : "and all that follow", what, *detail ? ": " : "", detail);
    std::fflush(stdout);
}

void onSignal(int number) {
    char text[200];
    const int length = std::snprintf(text, sizeof text, "  signal %d in %s %s, request %ld, extent %d\n", number,
                                     now.function ? now.function->name : "", now.function ? now.function->use : "",
                                     now.n, static_cast<int>(now.extent));
    static_cast<void>(!write(1, text, static_cast<size_t>(length)));
    std::signal(number, SIG_DFL);
    std::raise(number);
}

// Judges a call that must succeed because nothing fails.
void judge(mnn_status status, const char* when) {
    if (status == MNN_OK) return;
    complain(when, mnn_status_name(status));
    std::printf("    %s\n", sentenceOf(*now.function));
    std::exit(1);
}

// Returns the result of the call, and then the results of its session.
Bytes resultOf(const Scene& scene) {
    Bytes all = scene.result;
    if (scene.session) {
        scene.run();
        const Bytes more = outputs(scene.session);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

struct Outcome {
    long requests = 0;
    Bytes result;
    bool failed = false;  // ended with MNN_ERROR_OUT_OF_MEMORY
};

Outcome live(const Point& point) {
    now = point;
    const Function& function = *point.function;
    Outcome outcome;
    Scene scene;
    function.prepare(scene);
    arm(Call::Memory, point.n, point.extent, ENOMEM);
    mnn_status status = function.call(scene);
    if (status != MNN_OK && point.extent == Extent::FromThen && failed() > 0) {
        // A second attempt without memory must do no harm.
        const mnn_status again = function.call(scene);
        if (again == MNN_OK)
            status = MNN_OK;
        else if (again != MNN_ERROR_OUT_OF_MEMORY)
            complain("a second try", mnn_status_name(again));
    }
    outcome.requests = disarm();
    if (failed() == 0) {
        judge(status, "without a failed request");
    } else if (status != MNN_OK) {
        outcome.failed = true;
        if (status != MNN_ERROR_OUT_OF_MEMORY) complain(mnn_status_name(status), sentenceOf(function));
        if (*sentenceOf(function) == '\0') complain("no sentence", "");
        judge(function.call(scene), "the next call");
    }
    outcome.result = resultOf(scene);
    return outcome;
}

void walk(const Function& function, long every) {
    constexpr long kNever = INT64_MAX;
    every = std::max(every, function.every);
    // It runs undisturbed twice: objects that the process creates once and keeps are no leak.
    live({&function, kNever, Extent::Once});
    const Outcome undisturbed = live({&function, kNever, Extent::Once});
    const Left before;
    long points = 0, ended = 0;
    for (const Extent extent : {Extent::Once, Extent::FromThen})
        for (long n = 1; n <= undisturbed.requests; ++points) {
            const Outcome outcome = live({&function, n, extent});
            ended += outcome.failed;
            if (outcome.result != undisturbed.result) complain("another result than undisturbed", "");
            if (!Left().within(before)) {
                complain("memory, threads or descriptors are left", "");
                printLive();
                std::exit(1);
            }
            n = n < undisturbed.requests ? std::min(n + every, undisturbed.requests) : n + 1;
        }
    // Else the requests of the library are not seen, and nothing is tested.
    if (std::string_view(function.name) == "mnn_session_create" && undisturbed.requests == 0)
        complain("no request for memory", "");
    std::printf("%-38s %-40s %6ld requests, %6ld points, %6ld without memory\n", function.name, function.use,
                undisturbed.requests, points, ended);
    std::fflush(stdout);
}

// Checks that every exported function is in the table, and no other.
void compareWithExports(const std::vector<Function>& table) {
    std::set<std::string> called, exported;
    for (const Function& function : table) called.insert(function.name);
    std::vector<std::string> files = {MNN_C_EXPORTS_FILE};
#ifdef MNN_C_IMAGE_EXPORTS_FILE
    files.emplace_back(MNN_C_IMAGE_EXPORTS_FILE);
#endif
#ifdef MNN_C_ONNX_EXPORTS_FILE
    files.emplace_back(MNN_C_ONNX_EXPORTS_FILE);
#endif
    for (const std::string& file : files) {
        std::ifstream lines(file);
        size_t found = 0;
        for (std::string line; std::getline(lines, line);)
            if (line.rfind("mnn_", 0) == 0) {
                exported.insert(line);
                ++found;
            }
        if (found == 0) {
            std::printf("no function in %s\n", file.c_str());
            ++wrong;
        }
    }
    for (const std::string& name : exported)
        if (!called.count(name)) {
            std::printf("%s is not called here\n", name.c_str());
            ++wrong;
        }
    for (const std::string& name : called)
        if (!exported.count(name)) {
            std::printf("%s is not exported\n", name.c_str());
            ++wrong;
        }
    std::printf("%zu functions, %zu uses\n", called.size(), table.size());
}

}  // namespace

int main(int argc, char** argv) {
    long every = 1;
    std::string only;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--vulkan")
            forwardType = MNN_FORWARD_VULKAN;
        else if (word == "--every" && i + 1 < argc)
            every = std::atol(argv[++i]);
        else if (word == "--only" && i + 1 < argc)
            only = argv[++i];
        else
            return 2;
    }
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) std::signal(number, onSignal);
    faults::begin();
    Scene kept;  // keeps the device
    if (forwardType == MNN_FORWARD_VULKAN) {
        size_t devices = 0;
        if (mnn_device_count(MNN_FORWARD_VULKAN, &devices) == MNN_ERROR_BACKEND_MISSING) {
            std::printf("skipped: %s\n", mnn_last_error());
            return 77;
        }
        faults::open(kept);
    }
    std::vector<Function> table = creationFunctions();
    const auto add = [&](const std::vector<Function>& more) { table.insert(table.end(), more.begin(), more.end()); };
    add(sessionFunctions());
    add(stateFunctions());
    add(tensorFunctions());
    add(interpreterFunctions());
    std::set<std::string> special;
    for (const Function& function : table) special.insert(function.name);
    for (const Function& function : plainFunctions())
        if (!special.count(function.name)) table.push_back(function);
    if (forwardType == MNN_FORWARD_CPU) {  // the others do not depend on the place where a session runs
        add(libraryFunctions());
#ifdef MNN_C_IMAGE_EXPORTS_FILE
        add(imageFunctions());
#endif
#ifdef MNN_C_ONNX_EXPORTS_FILE
        add(onnxFunctions());
#endif
        compareWithExports(table);
    }
    for (const Function& function : table)
        if (only.empty() || only == function.name) walk(function, every);
    std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
