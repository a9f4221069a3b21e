// Runs Graphviz's program dot.
#include "base/os/terminal.h"
#include "dot.h"
#include "errors.h"
#include "text.h"

namespace tool {

std::string drawnByDot(const std::string& dot) {
    constexpr int kLongestWait = 300;  // seconds
    using Run = mnnc::os::ProgramRun;
    const Run run = mnnc::os::runProgram({"dot", "-Tsvg"}, dot, kLongestWait);
    if (run.end == Run::End::Missing)
        throw ToolError(
            "an .svg needs the program 'dot' of Graphviz, which is not installed (Debian's package is "
            "graphviz); .html and .dot need no other program");
    if (run.end == Run::End::TooLong)
        throw ToolError(
            fmt::format("'dot' did not finish in {} seconds; an .html page has no such limit", kLongestWait));
    if (run.end == Run::End::Failed) throw ToolError(fmt::format("'dot': {}", run.reason));
    if (run.exitCode != 0) throw ToolError(fmt::format("'dot' failed: {}", run.errors));
    return run.output;
}

}  // namespace tool
