// Services of the system for a command line tool: arguments, the terminal, patterns of file names, other programs. The
// libraries use none of this.
#pragma once
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mnnc::os {

// The arguments of main(), as UTF-8.
std::vector<std::string> utf8Arguments(int count, char** arguments);

bool isTerminal(std::FILE* file) noexcept;
// The width of a terminal; 0 where it is not known.
int terminalColumns(std::FILE* file) noexcept;
// Makes a file pass all bytes unchanged, without converting line ends.
void passBytes(std::FILE* file) noexcept;
// When a user interrupts the process, this text is written to standard error before the process ends. The text must
// live until then.
void writeWhenInterrupted(const char* text);

// The paths that match a pattern with * and ?, sorted.
std::vector<std::string> matchingPaths(const std::string& pattern);

struct ProgramRun {
    enum class End { Exited, Failed, Missing, TooLong };  // Failed: see `reason`
    End end = End::Failed;
    std::string reason;
    int exitCode = -1;  // below 0: a signal ended the program
    std::string output, errors;
};
// Runs a program, which is searched for as the system searches for programs, without a shell.
ProgramRun runProgram(const std::vector<std::string>& arguments, const std::string& input, int seconds);

struct ChildRun {
    bool isChild = false;  // this process is the child, which goes on
    int exitCode = 1;      // of the child that has ended
    int signal = 0;        // that ended the child; 0: it exited
    std::string failure;   // why no child could be made; empty: there was one
};
// Continues the program in a child process that has further variables in its environment. The parent passes the child's
// standard error to a function, and returns when the child has ended. Must be called early, before there are threads.
ChildRun continueInChild(const std::vector<std::pair<const char*, const char*>>& variables,
                         const std::function<void(const char* text, size_t bytes)>& errors);

}  // namespace mnnc::os
