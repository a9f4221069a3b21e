// Reads zip files whose members are stored, not compressed, as Python's zipfile and numpy.savez write them. It does not
// depend on cases. The tool uses no library for it, because Debian's libraries are not available to the build for Arm,
// whose tool reads cases, too; besides, libzip depends on libcrypto, libbz2 and libz, and accepts files that contradict
// themselves.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

class Zip {
  public:
    // Reads the complete file and checks every member. Throws ToolError with the file and the reason.
    explicit Zip(const std::filesystem::path& path);
    Zip(const Zip&) = delete;
    Zip& operator=(const Zip&) = delete;

    // Names and contents, which are valid as long as this object.
    const std::map<std::string, std::string_view>& members() const { return members_; }
    // Throws ToolError when there is no such member.
    std::string_view member(const std::string& name) const;

  private:
    std::string file_;
    std::vector<char> bytes_;
    std::map<std::string, std::string_view> members_;
};

}  // namespace tool
