// Reads zip files: end record, directory, local headers, checksums.
#include "zip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>

#include "base/os/paths.h"
#include "errors.h"
#include "text.h"

namespace tool {
namespace {

// The sizes of the fixed parts, and their signatures.
constexpr uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22;
constexpr uint32_t kLocalWord = 0x04034b50, kEntryWord = 0x02014b50, kEndWord = 0x06054b50;

// A field with such a value is replaced by one of the zip64 field.
constexpr uint32_t kElsewhere16 = 0xffff, kElsewhere32 = 0xffffffff;

constexpr uint32_t kEncrypted = 1u << 0;
// Two bits have a meaning only with compression, and one marks names in UTF-8.
constexpr uint32_t kHarmlessFlags = 3u << 1 | 1u << 11;

// CRC-32 with the polynomial of IEEE 802.3, whose bits are in reversed order.
constexpr std::array<uint32_t, 256> kCrcTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
        table[i] = value;
    }
    return table;
}();

uint32_t crcOf(std::string_view bytes) {
    uint32_t crc = 0xffffffffu;
    for (const char byte : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 255];
    return ~crc;
}

// A member, as the directory describes it.
struct Entry {
    std::string name;
    uint32_t flags = 0;
    uint32_t crc = 0;
    uint64_t bytes = 0;
    uint64_t begin = 0, data = 0, end = 0;  // offsets in the file: its local header, its contents, their end
};

// Positions have 64 bits and are sums of a few numbers of 32 bits, so that none of them overflows.
class ZipParser {
  public:
    ZipParser(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

    std::map<std::string, std::string_view> parse() {
        readEnd();
        readDirectory();
        for (Entry& entry : entries_) readLocalHeader(entry);
        refuseOverlaps();
        std::map<std::string, std::string_view> members;
        for (const Entry& entry : entries_) {
            const std::string_view contents = bytes_.substr(entry.data, entry.bytes);
            if (!members.emplace(entry.name, contents).second) bad("is there twice", entry);
        }
        for (const Entry& entry : entries_)
            if (crcOf(members.at(entry.name)) != entry.crc)
                bad("is damaged: its contents do not have the checksum that the file gives", entry);
        return members;
    }

  private:
    [[noreturn]] void bad(const std::string& what) const { throw ToolError(fmt::format("'{}' {}", file_, what)); }
    [[noreturn]] void bad(const std::string& what, const Entry& entry) const {
        throw ToolError(fmt::format("'{}': the member '{}' {}", file_, entry.name, what));
    }

    // The caller has checked that the number lies in the file.
    uint32_t number(uint64_t at, uint64_t width) const {
        uint32_t value = 0;
        for (uint64_t i = 0; i < width; i++)
            value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes_[at + i])) << 8 * i;
        return value;
    }
    uint32_t two(uint64_t at) const { return number(at, 2); }
    uint32_t four(uint64_t at) const { return number(at, 4); }

    void readEnd() {
        if (bytes_.size() < kEndBytes || four(bytes_.size() - kEndBytes) != kEndWord)
            bad("does not end as a zip file does; a zip file with a comment is not read");
        directoryEnd_ = bytes_.size() - kEndBytes;
        const uint64_t at = directoryEnd_;
        count_ = two(at + 10);
        const uint64_t directoryBytes = four(at + 12);
        directory_ = four(at + 16);
        if (two(at + 20) != 0) bad("announces a comment that is not there");
        if (count_ == kElsewhere16 || directoryBytes == kElsewhere32 || directory_ == kElsewhere32)
            bad("is a zip64 file, which is not read");
        if (two(at + 4) != 0 || two(at + 6) != 0 || two(at + 8) != count_)
            bad("is a part of a zip file of several files, which is not read");
        if (directory_ + directoryBytes != directoryEnd_)
            bad("has a directory that does not lie before the end record");
        if (count_ * kEntryBytes > directoryBytes)
            bad(fmt::format("announces {} members in a directory of {} bytes", count_, directoryBytes));
    }

    void readDirectory() {
        uint64_t at = directory_;
        for (uint64_t i = 0; i < count_; i++) {
            if (directoryEnd_ - at < kEntryBytes || four(at) != kEntryWord)
                bad(fmt::format("has no entry {} in its directory of {} members", i, count_));
            const uint64_t nameBytes = two(at + 28);
            const uint64_t entryBytes = kEntryBytes + nameBytes + two(at + 30) + two(at + 32);
            if (entryBytes > directoryEnd_ - at)
                bad(fmt::format("has an entry {} that does not end in its directory", i));
            entries_.push_back(readEntry(at, nameBytes));
            at += entryBytes;
        }
        if (at != directoryEnd_) bad("has a directory that is longer than its entries");
    }

    Entry readEntry(uint64_t at, uint64_t nameBytes) const {
        Entry entry;
        entry.name = std::string(bytes_.substr(at + kEntryBytes, nameBytes));
        const auto isControl = [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; };
        if (entry.name.empty() || std::any_of(entry.name.begin(), entry.name.end(), isControl))
            bad("has a member whose name is empty or holds control characters");
        entry.flags = two(at + 8);
        entry.crc = four(at + 16);
        entry.bytes = four(at + 24);
        entry.begin = four(at + 42);
        const uint32_t method = two(at + 10), compressedBytes = four(at + 20);
        if (entry.flags & kEncrypted) bad("is encrypted", entry);
        if (entry.flags & ~kHarmlessFlags)
            bad(fmt::format("has the flags {:#06x}, which are not read", entry.flags), entry);
        if (method != 0) bad(fmt::format("is compressed (method {}); store it without compression", method), entry);
        if (entry.bytes == kElsewhere32 || compressedBytes == kElsewhere32 || entry.begin == kElsewhere32)
            bad("has zip64 fields in the directory, which are not read", entry);
        if (compressedBytes != entry.bytes)
            bad(fmt::format("has {} bytes in the file and {} as its size, though it is not compressed", compressedBytes,
                            entry.bytes),
                entry);
        if (two(at + 34) != 0) bad("lies in another file", entry);
        return entry;
    }

    void readLocalHeader(Entry& entry) const {
        const uint64_t at = entry.begin;
        if (at > directory_ || directory_ - at < kLocalBytes || four(at) != kLocalWord)
            bad("has no header where the directory says", entry);
        const uint64_t nameBytes = two(at + 26), extraBytes = two(at + 28);
        entry.data = at + kLocalBytes + nameBytes + extraBytes;
        if (entry.data > directory_ || directory_ - entry.data < entry.bytes)
            bad("goes beyond the members' part of the file", entry);
        entry.end = entry.data + entry.bytes;
        if (bytes_.substr(at + kLocalBytes, nameBytes) != entry.name || two(at + 6) != entry.flags ||
            two(at + 8) != 0 || four(at + 14) != entry.crc || !sizesAgree(entry, nameBytes, extraBytes))
            bad("has a header that differs from its entry in the directory", entry);
    }

    // The sizes of a local header may be in a zip64 field, which numpy.savez writes for members of any size.
    bool sizesAgree(const Entry& entry, uint64_t nameBytes, uint64_t extraBytes) const {
        const uint32_t compressedBytes = four(entry.begin + 18), bytes = four(entry.begin + 22);
        if (compressedBytes != kElsewhere32 || bytes != kElsewhere32)
            return compressedBytes == entry.bytes && bytes == entry.bytes;
        const uint64_t at = entry.begin + kLocalBytes + nameBytes;
        const auto holdsSize = [&](uint64_t place) { return four(place) == entry.bytes && four(place + 4) == 0; };
        return extraBytes == 20 && two(at) == 1 && two(at + 2) == 16 && holdsSize(at + 4) && holdsSize(at + 12);
    }

    void refuseOverlaps() const {
        std::vector<const Entry*> sorted;
        for (const Entry& entry : entries_) sorted.push_back(&entry);
        std::sort(sorted.begin(), sorted.end(),
                  [](const Entry* one, const Entry* other) { return one->begin < other->begin; });
        for (size_t i = 1; i < sorted.size(); i++)
            if (sorted[i - 1]->end > sorted[i]->begin)
                bad(fmt::format("shares bytes with the member '{}'", sorted[i - 1]->name), *sorted[i]);
    }

    std::string_view bytes_;
    const std::string& file_;
    uint64_t count_ = 0, directory_ = 0, directoryEnd_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace

Zip::Zip(const std::filesystem::path& path) : file_(mnnc::os::textOf(path)) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || std::filesystem::is_directory(path)) throw ToolError(fmt::format("cannot open '{}'", file_));
    const std::streamoff size = in.tellg();
    if (size < 0 || size >= std::streamoff{kElsewhere32})
        throw ToolError(fmt::format("'{}' is larger than a zip file without zip64 fields can be", file_));
    bytes_.resize(static_cast<size_t>(size));
    in.seekg(0);
    in.read(bytes_.data(), size);
    if (!in) throw ToolError(fmt::format("cannot read '{}'", file_));
    members_ = ZipParser({bytes_.data(), bytes_.size()}, file_).parse();
}

std::string_view Zip::member(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) throw ToolError(fmt::format("'{}' has no member '{}'", file_, name));
    return found->second;
}

}  // namespace tool
