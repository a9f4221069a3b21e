// A line of progress while a model is read and a session of it is created, which takes seconds for large models.
#pragma once
#include <cstdint>
#include <string>

#include "common.h"
#include "progress.h"

namespace tool {

// Draws the line as long as it exists. Do not use it while the time of loading is measured, because a thread draws.
class Loading {
  public:
    explicit Loading(const std::string& model);

  private:
    double part() const;  // the part of the file's bytes that the process has read

    const uint64_t fileBytes_, readBefore_;
    Progress progress_;
};

struct LoadedSession {
    Interpreter model;
    Session session;
};
// Returns a model and a session of it whose inputs all have shapes. Throws UsageError where an input has none.
LoadedSession loadedSession(const std::string& model, const CommonFlags& flags);

}  // namespace tool
