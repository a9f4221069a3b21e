// The entry of the command line tool: runs one command and turns exceptions into exit codes.
// 0 means success, 1 a failure, 2 wrong usage.
#include <exception>

#include "command_line.h"
#include "errors.h"
#include "process_memory.h"
#include "text.h"

int main(int argc, char** argv) {
    const uint64_t residentAtStart = tool::statusBytes("VmRSS");
    try {
        return tool::runCommandLine(argc, argv, residentAtStart);
    } catch (const tool::UsageError& error) {
        tool::text::print(stderr, "mnn: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        tool::text::print(stderr, "mnn: {}\n", error.what());
        return 1;
    }
}
