// The pairs of words above a picture: the model, the machine, the settings.
#pragma once
#include "common.h"
#include "json.h"

namespace tool {

class Facts {
  public:
    // Adds nothing where the value is empty.
    void add(const char* name, const std::string& value);
    // Adds the device of the session, and its settings.
    void addSettings(const Session& session);
    const Json& list() const { return list_; }
    std::string line() const;

  private:
    Json list_ = Json::array();
};

}  // namespace tool
