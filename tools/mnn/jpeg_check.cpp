#include "jpeg_check.h"

#include <optional>

namespace tool {
namespace {

// The second byte of markers; the first is kMark.
enum : uint8_t {
    kStuffing = 0x00,  // a byte of the entropy-coded data
    kFrame0 = 0xC0,    // baseline, extended and progressive are read, other kinds not
    kFrame2 = 0xC2,
    kHuffman = 0xC4,
    kRestart0 = 0xD0,
    kRestart7 = 0xD7,
    kStart = 0xD8,
    kEnd = 0xD9,
    kScan = 0xDA,
    kQuantisation = 0xDB,
    kLines = 0xDC,
    kInterval = 0xDD,
    kApplication0 = 0xE0,
    kApplication15 = 0xEF,
    kComment = 0xFE,
    kMark = 0xFF,
};

// Follows the file as stb_image does, marker by marker: it stops at the first thing that stb_image stops at, or later.
class Walk {
  public:
    explicit Walk(std::span<const uint8_t> file) : file_(file) {}

    bool tablesFit() {
        if (next() != kMark || markerAfterMark() != kStart) return true;  // no JPEG
        while (const std::optional<uint8_t> marker = nextMarker()) {
            if (!hasSegment(*marker)) return true;
            const size_t length = size_t{next()} << 8 | next();
            if (length < 2) return true;
            const size_t end = at_ + length - 2;
            if (*marker == kHuffman && !tablesFit(end)) return false;
            at_ = end;
        }
        return true;
    }

  private:
    uint8_t next() { return at_ < file_.size() ? file_[at_++] : 0; }

    uint8_t markerAfterMark() {
        uint8_t byte = next();
        while (byte == kMark) byte = next();
        return byte;
    }

    // Between segments there may be other bytes, after a scan's segment lies its entropy-coded data.
    std::optional<uint8_t> nextMarker() {
        while (at_ < file_.size()) {
            if (next() != kMark) continue;
            const uint8_t marker = markerAfterMark();
            if (marker == kStuffing || (marker >= kRestart0 && marker <= kRestart7)) continue;
            return marker;
        }
        return std::nullopt;
    }

    static bool hasSegment(uint8_t marker) {
        switch (marker) {
            case kHuffman:
            case kScan:
            case kQuantisation:
            case kLines:
            case kInterval:
            case kComment:
                return true;
            default:
                return (marker >= kFrame0 && marker <= kFrame2) ||
                       (marker >= kApplication0 && marker <= kApplication15);
        }
    }

    // A table is its class and number, how many codes of each length it has, and a value for each code.
    bool tablesFit(size_t end) {
        while (at_ < end && at_ < file_.size()) {
            next();
            size_t codes = 0;
            for (int length = 1; length <= 16; ++length) codes += next();
            if (codes > 256) return false;
            at_ += codes;
        }
        return true;
    }

    std::span<const uint8_t> file_;
    size_t at_ = 0;
};

}  // namespace

bool huffmanTablesFit(std::span<const uint8_t> file) {
    return Walk(file).tablesFit();
}

}  // namespace tool
