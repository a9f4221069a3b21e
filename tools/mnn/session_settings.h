// What holds of the options of a session.
#pragma once
#include "common.h"
#include "json.h"

namespace tool {

// Where the session runs and with which settings, and why not with those that were asked for.
Json describeSettings(const Session& session);
// The name of the session's GPU where its driver is a program for the CPU, else "".
std::string softwareDriver(const Session& session);
// The name of this machine's processor; "" where the system does not say.
std::string processorName();

}  // namespace tool
