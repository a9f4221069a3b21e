// A line of progress while a model is read and a session of it is made, which takes seconds for large models.
#pragma once
#include <cstdint>
#include <string>

#include "common.h"
#include "progress.h"

namespace tool {

// For as long as it exists. Not while the time of loading is measured: a thread draws the line.
class Loading {
  public:
    explicit Loading(const std::string& model);

  private:
    double part() const;  // of the file's bytes that the process has read

    const uint64_t fileBytes_, readBefore_;
    Progress progress_;
};

struct LoadedSession {
    Interpreter model;
    Session session;
};
// A model and a session of it whose inputs all have shapes. Throws UsageError where one has none.
LoadedSession loadedSession(const std::string& model, const CommonFlags& flags);

}  // namespace tool
