#include "content_check.h"

#include <cstring>

namespace mnnc::image {
namespace {

using File = std::span<const uint8_t>;

int64_t numberAt(File file, size_t at, size_t bytes) {
    int64_t number = 0;
    for (size_t i = bytes; i-- > 0;) number = number << 8 | file[at + i];
    return number;
}

int64_t bytesOf(int64_t bits) {
    return (bits + 7) / 8;
}

// Rows begin at multiples of 4 bytes. stb_image reads no compressed BMP files.
// Source: Microsoft, "Bitmap Storage": BITMAPFILEHEADER, BITMAPCOREHEADER, BITMAPINFOHEADER.
bool bmpIsComplete(File file, int64_t width, int64_t height) {
    constexpr size_t kOffset = 10, kHeaderSize = 14, kCoreHeader = 12, kBits = 28, kCoreBits = 24;
    if (file.size() < kBits + 2) return false;
    const bool core = numberAt(file, kHeaderSize, 4) == kCoreHeader;
    const int64_t row = bytesOf(width * numberAt(file, core ? kCoreBits : kBits, 2));
    const int64_t end = numberAt(file, kOffset, 4) + (height - 1) * ((row + 3) / 4 * 4) + row;
    return end <= static_cast<int64_t>(file.size());
}

// Follows the blocks up to the end of the first picture, which is the one that is decoded. A block consists of
// sub-blocks, each with its number of bytes before it; the last one has none.
// Source: CompuServe, "Graphics Interchange Format", version 89a, sections 15 to 27 and appendix A.
bool gifIsComplete(File file) {
    constexpr size_t kHeader = 13, kHeaderFlags = 10, kDescriptor = 9, kDescriptorFlags = 8;
    constexpr uint8_t kExtension = 0x21, kPicture = 0x2c;
    const auto coloursOf = [](uint8_t flags) { return (flags & 0x80) != 0 ? size_t{3} << ((flags & 7) + 1) : 0; };
    if (file.size() < kHeader) return false;
    size_t at = kHeader + coloursOf(file[kHeaderFlags]);
    while (at < file.size()) {
        const uint8_t kind = file[at++];
        if (kind == kPicture) {
            if (file.size() - at <= kDescriptor) return false;
            at += kDescriptor + coloursOf(file[at + kDescriptorFlags]);
        } else if (kind != kExtension) {
            return true;  // stb_image reads no further
        }
        ++at;  // the label of an extension, or the size of the codes
        while (at < file.size() && file[at] != 0) at += size_t{file[at]} + 1;
        if (at >= file.size()) return false;
        if (kind == kPicture) return true;
        ++at;
    }
    return false;
}

// A packet of a compressed file stands for up to 128 pixels, which are equal, or follow one another.
bool packetsSuffice(File packets, int64_t pixelBytes, int64_t pixels) {
    constexpr uint8_t kEqual = 0x80;
    size_t at = 0;
    while (pixels > 0) {
        if (at >= packets.size()) return false;
        const int64_t count = (packets[at] & (kEqual - 1)) + 1;
        at += static_cast<size_t>(1 + pixelBytes * ((packets[at] & kEqual) != 0 ? 1 : count));
        pixels -= count;
    }
    return at <= packets.size();
}

// Only TGA files, which have no signature, begin as stb_image demands of them: the second byte is 0 or 1 (with a table
// of colours).
// Source: Truevision TGA File Format Specification, Version 2.0, "TGA File Header" and "Image Types".
constexpr size_t kTgaHeader = 18;
bool isTga(File file) {
    return file.size() >= kTgaHeader && file[1] <= 1;
}
bool tgaIsComplete(File file, int64_t width, int64_t height) {
    constexpr uint8_t kCompressed = 8;
    const int64_t colours = file[1] == 1 ? numberAt(file, 5, 2) * bytesOf(file[7]) : 0;
    const auto begin = static_cast<size_t>(kTgaHeader + file[0] + colours);
    if (begin > file.size()) return false;
    const int64_t pixelBytes = bytesOf(file[16]), pixels = width * height;
    const File content = file.subspan(begin);
    return file[2] < kCompressed ? pixels * pixelBytes <= static_cast<int64_t>(content.size())
                                 : packetsSuffice(content, pixelBytes, pixels);
}

}  // namespace

bool containsAllPixels(std::span<const uint8_t> file, int64_t width, int64_t height) {
    if (file.size() < 4) return true;
    if (file[0] == 'B' && file[1] == 'M') return bmpIsComplete(file, width, height);
    if (std::memcmp(file.data(), "GIF8", 4) == 0) return gifIsComplete(file);
    return !isTga(file) || tgaIsComplete(file, width, height);
}

bool hasShiftedColours(std::span<const uint8_t> file) {
    return isTga(file) && file[1] == 1 && numberAt(file, 3, 2) != 0;
}

}  // namespace mnnc::image
