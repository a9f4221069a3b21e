// The command line: parses it and runs the command that it names.
#pragma once
#include <cstdint>

namespace tool {

// Returns the exit code. Throws UsageError, and what the command throws.
// residentAtStart: the bytes of the process's memory when it began, which 'mnn bench' subtracts.
int runCommandLine(int argc, char** argv, uint64_t residentAtStart);

}  // namespace tool
