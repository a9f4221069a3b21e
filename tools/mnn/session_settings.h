// The effective settings of a session.
#pragma once
#include "common.h"
#include "json.h"

namespace tool {

// Describes where the session runs and with which settings, and why these differ from the requested ones.
Json describeSettings(const Session& session);
// Returns the name of the session's GPU where its driver is a program for the CPU, else "".
std::string softwareDriver(const Session& session);
// Returns the name of this machine's processor; "" where the system does not report it.
std::string processorName();

}  // namespace tool
