// Makes calls whose requests fail, and judges them.
#include "life.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace faults {
namespace {

constexpr const char* kPhases[] = {"load",          "borrow",           "declare",   "register",
                                   "backend",       "create",           "resize",    "run",
                                   "submit",        "bind to a device", "bound run", "run with callbacks",
                                   "cancelled run", "return",           "trim",      "create paths",
                                   "resize paths",  "release",          "destroy"};

void onSignal(int number) {
    char text[160];
    const int length = std::snprintf(text, sizeof text, "  signal %d at %s, request %ld, extent %d\n", number,
                                     phaseName(subject.now.phase), subject.now.n, static_cast<int>(subject.now.extent));
    static_cast<void>(!write(1, text, static_cast<size_t>(length)));
    std::signal(number, SIG_DFL);
    std::raise(number);
}

void judge(mnn_status status, mnn_status wanted, const char* when) {
    if (status == wanted) return;
    complain(*when ? when : mnn_status_name(status), mnn_last_error());
    std::exit(1);
}

}  // namespace

Subject subject;

const char* phaseName(int phase) {
    return kPhases[phase];
}

void complain(const char* what, const char* detail) {
    ++subject.wrong;
    std::printf("  %s, %s, request %ld %s: %s%s%s\n", subject.path, phaseName(subject.now.phase), subject.now.n,
                subject.now.extent == Extent::Once ? "once" : "and all that follow", what, *detail ? ": " : "", detail);
    std::fflush(stdout);
}

void nameSignals() {
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) std::signal(number, onSignal);
}

void Life::call(Phase phase, const std::function<mnn_status()>& body, mnn_status wanted) {
    if (phase != point_.phase || seen_ >= 0) {
        judge(body(), wanted, "");
        return;
    }
    arm(Call::Memory, point_.n, point_.extent, ENOMEM);
    const mnn_status status = body();
    if (point_.extent == Extent::FromThen && status != wanted) {
        const mnn_status again = body();  // a second attempt without memory must do no harm
        if (again != MNN_ERROR_OUT_OF_MEMORY && again != wanted) complain("a second try", mnn_status_name(again));
    }
    seen_ = disarm();
    if (failed() == 0) {
        judge(status, wanted, "without a failed request");
        return;
    }
    ++subject.outcomes[phase][status == wanted ? "as undisturbed" : mnn_status_name(status)];
    if (status == wanted) return;
    if (status != MNN_ERROR_OUT_OF_MEMORY) complain(mnn_status_name(status), mnn_last_error());
    if (mnn_last_error()[0] == '\0') complain("no sentence", "");
    judge(body(), wanted, "the next call");
}

}  // namespace faults
