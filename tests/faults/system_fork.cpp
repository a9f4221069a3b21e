// A child of fork() computes, also with sessions that it inherited.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "left.h"
#include "system.h"

namespace faults {
namespace {

// Runs body in a child, which returns whether it succeeded there.
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

}  // namespace

void testForking(bool vulkan) {
    Handles inherited;
    MUST(load(inherited));
    MUST(create(inherited, 2));
    if (compute(inherited) != tested.expected) complain("before fork");
    inChild("fork: inherited session with 2 threads", [&] {
        const bool same = compute(inherited) == tested.expected;
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
        const bool same = compute(own) == tested.expected && thread_count() == 2;
        MUST(create(inherited, 2));  // also from the inherited interpreter
        return same && compute(inherited) == tested.expected;
    });
    inChild("fork: a child of a child", [&] {
        if (compute(inherited) != tested.expected) return false;
        const pid_t child = fork();
        if (child == 0) _exit(compute(inherited) == tested.expected ? 0 : 1);
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
            const bool same = compute(other) == tested.expected;
            return same && mnn_session_destroy(&gpu.session) == MNN_OK && mnn_interpreter_destroy(&gpu.net) == MNN_OK;
        });
        compute(gpu);
    }
    if (compute(inherited) != tested.expected) complain("after fork");
}

}  // namespace faults
