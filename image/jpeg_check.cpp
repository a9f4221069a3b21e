// Finds Huffman tables and scans in a JPEG file that stb_image 2.27 does not check, by the markers and segments of
// ITU-T T.81, annex B.
#include "jpeg_check.h"

#include <algorithm>
#include <bitset>
#include <optional>

namespace mnnc::image {
namespace {

// The second byte of markers; the first is kMark.
enum : uint8_t {
    kStuffing = 0x00,  // a byte of the entropy-coded data
    kFrame0 = 0xC0,    // baseline, extended and progressive files are supported, other kinds are not
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

// stb_image computes the whole picture for each scan, however few bytes it has: units of up to kMaxUnit x kMaxUnit
// pixels, of each component. Usual files have up to about ten scans.
constexpr int64_t kUsualScans = 64, kMaxScannedPixels = int64_t{1} << 31, kMaxUnit = 32;

// Follows the file marker by marker as stb_image does: it stops where stb_image stops, or later.
class SegmentReader {
  public:
    explicit SegmentReader(std::span<const uint8_t> file) : file_(file) {}

    const char* defect() {
        if (next() != kMark || markerAfterMark() != kStart) return nullptr;  // no JPEG
        while (const std::optional<uint8_t> marker = nextMarker()) {
            if (*marker == kEnd && (framed_ & ~scanned_).any()) return "a component of the picture is in no scan";
            if (!hasSegment(*marker)) return nullptr;
            const size_t length = nextPair();
            if (length < 2) return nullptr;
            const size_t end = at_ + length - 2;
            if (*marker >= kFrame0 && *marker <= kFrame2) readFrame(*marker == kFrame2);
            if (*marker == kHuffman && !readTables(end)) return "a Huffman table has more than 256 codes";
            if (*marker == kScan && !scanHasTables())
                return "a scan uses a Huffman table that the file does not define";
            if (scans_ > kUsualScans && scans_ * pixels_ > kMaxScannedPixels)
                return "the file has more scans than a picture needs";
            at_ = end;
        }
        return nullptr;
    }

  private:
    uint8_t next() { return at_ < file_.size() ? file_[at_++] : 0; }
    uint16_t nextPair() {
        const uint8_t high = next();
        return static_cast<uint16_t>(high << 8 | next());
    }

    uint8_t markerAfterMark() {
        uint8_t byte = next();
        while (byte == kMark) byte = next();
        return byte;
    }

    // Between segments there may be other bytes; a scan's segment is followed by its entropy-coded data.
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

    // A frame consists of the bits of a sample, the height and the width, and three bytes for each component, the first
    // of which names it.
    void readFrame(bool progressive) {
        progressive_ = progressive;
        next();
        const auto inUnits = [](int64_t extent) { return (extent + kMaxUnit - 1) / kMaxUnit * kMaxUnit; };
        const int64_t height = inUnits(nextPair()), width = inUnits(nextPair());
        const size_t components = next();
        pixels_ = height * width * std::max<int64_t>(static_cast<int64_t>(components), 1);
        for (size_t i = 0; i < components; ++i) {
            framed_.set(next());
            nextPair();
        }
    }

    // A table consists of its class and number, the number of codes of each length, and a value for each code.
    bool readTables(size_t end) {
        while (at_ < end && at_ < file_.size()) {
            defined_.set(next() & (kTables - 1));
            size_t codes = 0;
            for (int length = 1; length <= 16; ++length) codes += next();
            if (codes > 256) return false;
            at_ += codes;
        }
        return true;
    }

    // A scan names two tables for each of its components: for the DC coefficient (class 0) and for the others (class
    // 1). A progressive scan uses only one of them, depending on its first coefficient, which follows the components.
    bool scanHasTables() {
        ++scans_;
        const size_t components = next();
        bool dc = true, ac = true;
        for (size_t i = 0; i < components; ++i) {
            scanned_.set(next());
            const uint8_t tables = next();
            dc = dc && defined_[tables >> 4];
            ac = ac && defined_[0x10 | (tables & 0x0f)];
        }
        const bool first = next() == 0;
        return progressive_ ? (first ? dc : ac) : dc && ac;
    }

    static constexpr size_t kTables = 32;  // class (one bit), number (four bits)
    std::span<const uint8_t> file_;
    size_t at_ = 0;
    bool progressive_ = false;
    std::bitset<kTables> defined_;
    std::bitset<256> framed_, scanned_;  // the components of the frame and of the scans
    int64_t scans_ = 0, pixels_ = 0;
};

}  // namespace

const char* jpegDefect(std::span<const uint8_t> file) {
    return SegmentReader(file).defect();
}

}  // namespace mnnc::image
