#include "complete_check.h"

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

// Source: Truevision TGA File Format Specification, Version 2.0, "TGA File Header" and "Image Types".
bool tgaIsComplete(File file, int64_t width, int64_t height) {
    constexpr size_t kHeader = 18;
    constexpr uint8_t kCompressed = 8;
    if (file.size() < kHeader) return true;
    const int64_t colours = file[1] == 1 ? numberAt(file, 5, 2) * bytesOf(file[7]) : 0;
    const auto begin = static_cast<size_t>(kHeader + file[0] + colours);
    if (begin > file.size()) return false;
    const int64_t pixelBytes = bytesOf(file[16]), pixels = width * height;
    const File content = file.subspan(begin);
    return file[2] < kCompressed ? pixels * pixelBytes <= static_cast<int64_t>(content.size())
                                 : packetsSuffice(content, pixelBytes, pixels);
}

}  // namespace

bool containsAllPixels(std::span<const uint8_t> file, int64_t width, int64_t height) {
    if (file.size() < 2) return true;
    if (file[0] == 'B' && file[1] == 'M') return bmpIsComplete(file, width, height);
    // Only TGA files, which have no signature, begin as stb_image demands of them: the second byte is 0 or 1 (with a
    // table of colours).
    return file[1] > 1 || tgaIsComplete(file, width, height);
}

}  // namespace mnnc::image
