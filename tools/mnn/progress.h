// Shows the progress of a long command and the time that remains, as one line on standard error. The line appears after
// a second where standard error is a terminal; --progress changes that.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tool {

// The values of --progress. With "always" lines are also written where standard error is not a terminal: at most one a
// second, except those of announce().
inline constexpr const char* kProgressModes[] = {"auto", "always", "never"};
void setProgress(const std::string& mode);

class Progress {
  public:
    // The command alone draws, between timed calls, or a thread draws as well, so that long calls show progress.
    enum class Drawn { ByCommand, ByThread };

    // `what` names the work, `steps` the number of its steps; 0: it has no steps.
    Progress(std::string what, size_t steps, Drawn drawn);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `done` steps are finished, and `now` names the present one.
    void show(size_t done, const std::string& now = "");
    // Does the same for work without steps: `part` returns the finished part, 0 to 1, or below 0 where it is not known.
    void showPart(std::function<double()> part);
    // Draws at once that `now` has begun: call it before a timed call, during which nothing is drawn.
    void announce(const std::string& now);
    // Erases the line until it is shown again, because other text is printed.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    void change(std::string detail, std::function<double()> part);
    void drawWhenDue();
    void draw();

    const std::string what_;
    const size_t steps_;
    const Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;  // guards all members below
    std::string detail_;
    std::function<double()> part_;  // empty: nothing is shown
    Clock::time_point last_;        // when the line was drawn
    bool drawn_ = false;
    bool over_ = false;
    std::condition_variable changed_;
    std::thread thread_;
};

}  // namespace tool
