// The entry of the command line tool: runs one command and turns exceptions into exit codes.
// 0 means success, 1 a failure, 2 wrong usage.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/os/terminal.h"
#include "command_line.h"
#include "errors.h"
#include "process_memory.h"
#include "text.h"

int main(int argc, char** argv) {
    const uint64_t residentAtStart = tool::statusBytes("VmRSS");
    mnnc::os::passBytes(stdin);
    mnnc::os::passBytes(stdout);
    try {
        std::vector<std::string> arguments = mnnc::os::utf8Arguments(argc, argv);
        std::vector<char*> pointers;
        pointers.reserve(arguments.size());
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        const int code = tool::runCommandLine(static_cast<int>(pointers.size()), pointers.data(), residentAtStart);
        if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw tool::ToolError("cannot write to standard output");
        return code;
    } catch (const tool::UsageError& error) {
        tool::text::print(stderr, "mnn: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        tool::text::print(stderr, "mnn: {}\n", error.what());
        return 1;
    }
}
