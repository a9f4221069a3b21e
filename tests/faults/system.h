// Tests in which a system call fails while a net is loaded, a session created, or a run under way.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "interpose.h"
#include "net.h"

namespace faults {

// The test data: the model, its results, and a folder of this process for the cache file.
struct Tested {
    const char* path = "";
    Bytes expected;
    std::string folder;
    int wrong = 0;
};
extern Tested tested;

void complain(const std::string& text);

struct Handles {
    mnn_interpreter_t* net = nullptr;
    mnn_session_t* session = nullptr;
    ~Handles() {
        MUST(mnn_session_destroy(&session));
        MUST(mnn_interpreter_destroy(&net));
    }
};

mnn_status load(Handles& handles, int32_t mode = MNN_LOAD_DEFAULT);
mnn_status create(Handles& handles, int32_t threads, int32_t forwardType = MNN_FORWARD_CPU);
Bytes compute(Handles& handles);

// A call that may fail with one of these statuses when the system fails.
struct Subject {
    const char* name;
    std::function<mnn_status(Handles&)> prepare, call;
    std::function<void(Handles&, mnn_status)> check;  // after the fault
};

// Fails each use of `call` within the subject, until there is no further use.
void walk(const Subject& subject, Call call, int error, Extent extent, const std::vector<mnn_status>& allowed);
// Like Subject::prepare, for subjects that need no preparation.
mnn_status nothing(Handles&);

// Checks that the cache file of a GPU session is the old one or a complete new one, whichever call fails.
void testCaching();
// Checks that children of fork() compute the same results.
void testForking(bool vulkan);

}  // namespace faults
