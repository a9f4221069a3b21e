// Parses the command line and runs the command that it names.
#pragma once
#include <cstdint>

namespace tool {

// Returns the exit code. Throws UsageError and the exceptions of the command.
// residentAtStart: the bytes of the process's memory when it began, which 'mnn bench' subtracts.
int runCommandLine(int argc, char** argv, uint64_t residentAtStart);

}  // namespace tool
