// Draws the line, and erases it when the command ends or is interrupted.
#include "progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/os/terminal.h"
#include "text.h"

namespace tool {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr Seconds kQuiet{1};  // commands that end sooner show nothing
constexpr Seconds kBetween{0.2}, kBetweenLines{1};
constexpr double kMinPart = 0.02;  // a smaller part predicts too little
constexpr char kErase[] = "\r\033[K";

std::string mode = kProgressModes[0];

bool isTerminal() {
    static const bool answer = [] {
        const char* kind = std::getenv("TERM");
        return mnnc::os::isTerminal(stderr) && !(kind && std::strcmp(kind, "dumb") == 0);
    }();
    return answer;
}

bool isShown() {
    return mode == "always" || (mode == "auto" && isTerminal());
}

std::string spanText(double seconds) {
    const auto whole = static_cast<uint64_t>(std::llround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

// Fits the text to the terminal. Names of files may hold any bytes, and a line that is wider than the terminal could
// not be erased.
std::string fitted(std::string line) {
    for (char& c : line)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    const int columns = mnnc::os::terminalColumns(stderr);
    size_t end = columns > 1 ? static_cast<size_t>(columns) - 1 : 79;
    if (end >= line.size()) return line;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) end--;
    return line.substr(0, end);
}

}  // namespace

void setProgress(const std::string& wanted) {
    mode = wanted;
}

Progress::Progress(std::string what, size_t steps, Drawn drawn) : what_(std::move(what)), steps_(steps) {
    if (drawn == Drawn::ByCommand || !isShown()) return;
    thread_ = std::thread([this] {
        std::unique_lock<std::mutex> lock(mutex_);
        while (!changed_.wait_for(lock, kBetween, [this] { return over_; })) drawWhenDue();
    });
}

Progress::~Progress() {
    clear();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        over_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Progress::show(size_t done, const std::string& now) {
    if (!isShown()) return;
    const double part = static_cast<double>(done) / static_cast<double>(steps_);
    change(fmt::format("{} of {}{}{}", done, steps_, now.empty() ? "" : ", ", now), [part] { return part; });
}

void Progress::showPart(std::function<double()> part) {
    if (isShown()) change("", std::move(part));
}

void Progress::announce(const std::string& now) {
    if (!isShown()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    detail_ = now;
    part_ = [] { return -1.0; };
    last_ = Clock::now();
    draw();
}

void Progress::change(std::string detail, std::function<double()> part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    detail_ = std::move(detail);
    part_ = std::move(part);
    drawWhenDue();
}

void Progress::drawWhenDue() {
    if (!part_) return;
    const Clock::time_point now = Clock::now();
    const bool first = last_ == Clock::time_point{};
    if (first ? mode != "always" && now - begin_ < kQuiet : now - last_ < (isTerminal() ? kBetween : kBetweenLines))
        return;
    last_ = now;
    draw();
}

void Progress::draw() {
    const double past = Seconds(last_ - begin_).count(), part = part_();
    std::string line = "mnn " + what_ + (detail_.empty() ? "" : ": ") + detail_;
    if (past >= kQuiet.count()) line += ", " + spanText(past) + " so far";
    if (part >= kMinPart) line += ", about " + spanText(past * (1 - std::min(part, 1.0)) / part) + " left";
    if (isTerminal()) {
        mnnc::os::writeWhenInterrupted(kErase);  // so that Ctrl-C leaves no part of the line
        drawn_ = true;
        text::print(stderr, "{}{}", kErase, fitted(line));
    } else {
        text::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
}

void Progress::clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    part_ = nullptr;
    if (!drawn_) return;
    drawn_ = false;
    text::print(stderr, "{}", kErase);
    std::fflush(stderr);
}

}  // namespace tool
