// The phases of a net's life, and calls during which one phase's requests for memory fail.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "interpose.h"
#include "net.h"

namespace faults {

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
const char* phaseName(int phase);

struct Point {
    Phase phase = PhaseCount;
    long n = 0;
    Extent extent = Extent::Once;
};

// The net under test, and how it is used.
struct Subject {
    int32_t forwardType = MNN_FORWARD_CPU;
    bool ownBackend = false;
    const char* path = "";
    Bytes bytes;  // of path
    Point now;
    int wrong = 0;
    std::map<std::string, long> outcomes[PhaseCount];
};
extern Subject subject;

// Prints the state of the subject and the failure.
void complain(const char* what, const char* detail);
// Prints the state of the subject when a signal kills the process.
void nameSignals();

// One life, with requests that fail in one phase.
class Life {
  public:
    explicit Life(const Point& point) : point_(point) {}
    // Makes the call, with failing requests where it is the phase of this life, and then again without failures, which
    // must succeed.
    void call(Phase phase, const std::function<mnn_status()>& body, mnn_status wanted = MNN_OK);
    // Returns how many requests the phase of the point made.
    long seen() const { return seen_; }

  private:
    const Point point_;
    long seen_ = -1;
};

// The outputs of a life without failures. If operators < 0, the life stores them.
struct Expected {
    Bytes created, resized, paths, resizedPaths;
    long operators = -1;
};

// Runs the life of the subject's net, from load to destruction. Returns how many requests the phase of the point made.
long liveThrough(const Point& point, Expected& expected);

}  // namespace faults
