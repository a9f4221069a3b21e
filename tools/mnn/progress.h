// How far a long command is and how long the rest takes, as one line on standard error. The line appears where standard
// error is a terminal, after a second; --progress changes that.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tool {

// The values of --progress. With "always" there is a line where standard error is no terminal, too: one for each
// update.
inline constexpr const char* kProgressModes[] = {"auto", "always", "never"};
void setProgress(const std::string& mode);

class Progress {
  public:
    // Who draws: the command alone, between what it times, or a thread beside it, too, while a long call lasts.
    enum class Drawn { ByCommand, ByThread };

    // `what` is being done, in so many steps; 0: what has no steps.
    Progress(std::string what, size_t steps, Drawn drawn);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `done` steps are finished, and `now` is being done.
    void show(size_t done, const std::string& now = "");
    // The same for what has no steps: `part` gives the finished part, 0 to 1, or below 0 where it is not known.
    void showPart(std::function<double()> part);
    // Draws at once that `now` is being done: before a call that is timed, during which nothing is drawn.
    void announce(const std::string& now);
    // Takes the line away until it is shown again, because something else is printed.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;
    void change(std::string detail, std::function<double()> part);
    void drawWhenDue();
    void draw();

    const std::string what_;
    const size_t steps_;
    const Clock::time_point begin_ = Clock::now();
    std::mutex mutex_;  // of all that follows
    std::string detail_;
    std::function<double()> part_;  // empty: nothing is to be shown
    Clock::time_point last_;        // when the line was drawn
    bool drawn_ = false;
    bool over_ = false;
    std::condition_variable changed_;
    std::thread thread_;
};

}  // namespace tool
