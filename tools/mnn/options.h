// The options and help texts of the commands. Only the sources options_*.cpp and command_line.cpp include CLI11, which
// takes seconds to compile.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backend_list.h"
#include "flags.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tool {

inline const std::string kGpu = kGpuBackend.name;

// Each adds a command, and sets the exit code when that has run.
void addInfo(CLI::App& app, int& exitCode);
void addRun(CLI::App& app, int& exitCode);
void addGenerate(CLI::App& app, int& exitCode);
void addVerify(CLI::App& app, int& exitCode);
void addBench(CLI::App& app, int& exitCode, uint64_t residentAtStart);
void addCompare(CLI::App& app, int& exitCode);
void addConvert(CLI::App& app, int& exitCode);
void addDevices(CLI::App& app, int& exitCode);
void addCalibrate(CLI::App& app, int& exitCode);
void addProfile(CLI::App& app, int& exitCode);
void addGraph(CLI::App& app, int& exitCode);
void addVersion(CLI::App& app, int& exitCode);
// Called after all others, whose options they complete and describe.
void addCompletion(CLI::App& app);
void addManual(CLI::App& app);

// Returns the names inside of "TEXT:{a,b}", CLI11's description of an option that takes one of them.
std::vector<std::string> valuesOf(const CLI::Option& option);

// These are options of several commands.
std::vector<std::string> backendNames(bool withAuto);
void addBackendTo(CLI::App& command, CommonFlags& flags);
void addShapesTo(CLI::App& command, CommonFlags& flags);
void addSessionFlagsTo(CLI::App& command, CommonFlags& flags);  // all but --backend and --shape
void addCommonTo(CLI::App& command, CommonFlags& flags);        // all of them
void addRunsTo(CLI::App& command, int& runs, uint64_t& seed);
void addModelTo(CLI::App& command, std::string& model);
CLI::Option* addJsonTo(CLI::App& command, bool& json);
void addTextOutputTo(CLI::App& command, std::string& output);
void addProgressTo(CLI::App& command);

}  // namespace tool
