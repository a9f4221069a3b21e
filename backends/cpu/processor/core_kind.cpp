// Detects the kind of this CPU's cores: on Arm from the kernel's description in /proc/cpuinfo and below /sys.
#include "backends/cpu/processor/core_kind.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <tuple>

#include "backends/cpu/processor/cpu_features.h"
#include "base/os/files.h"
#include "base/os/threads.h"

namespace mnnc {

namespace {

constexpr int kPartBits = 12;

// Returns the beginning of a file; empty where it cannot be read.
std::string beginning(const std::string& path, size_t maxBytes) {
    std::string text(maxBytes, '\0');
    std::FILE* file = os::openStream(path.c_str(), "r");
    if (!file) return {};
    text.resize(std::fread(text.data(), 1, maxBytes, file));
    std::fclose(file);
    return text;
}

// Returns the number at the beginning of a word, decimal or after 0x; `fallback` where there is none.
int64_t numberOf(std::string_view word, int64_t fallback) {
    int base = 10;
    if (word.substr(0, 2) == "0x") {
        base = 16;
        word.remove_prefix(2);
    }
    int64_t value = fallback;
    std::from_chars(word.data(), word.data() + word.size(), value, base);
    return value;
}

#if defined(__aarch64__)
// Returns the part of the core that runs this; 0 where programs may not read the register (HWCAP_CPUID).
unsigned ownPart() {
    if (!(os::armCapabilities().first >> 11 & 1)) return 0;
    unsigned long midr = 0;
    asm("mrs %0, midr_el1" : "=r"(midr));
    return static_cast<unsigned>((midr >> 24 & 0xff) << kPartBits | (midr >> 4 & 0xfff));
}

CoreKind describedKind() {
    constexpr size_t kMaxText = 1 << 20;
    std::vector<CoreKind> kinds;
    for (const DescribedCore& core : describedCores(beginning("/proc/cpuinfo", kMaxText))) {
        if (core.part == 0 ||
            std::any_of(kinds.begin(), kinds.end(), [&](const CoreKind& k) { return k.part == core.part; }))
            continue;
        CoreKind kind;
        kind.part = core.part;
        kind.caches = describedCaches("/sys/devices/system/cpu", core.processor);
        kinds.push_back(kind);
    }
    CoreKind kind = largestCore(kinds);
    if (kind.part == 0) kind.part = ownPart();
    return kind;
}
#endif

}  // namespace

CoreKind detectCoreKind() {
    CoreKind kind;
#if defined(__aarch64__)
    kind = describedKind();
#else
    kind.caches = detectCoreCaches();
#endif
    const CpuFeatures features = detectCpuFeatures();
    kind.dotProd = features.dotProd;
    kind.i8mm = features.i8mm;
    return kind;
}

std::vector<DescribedCore> describedCores(std::string_view cpuinfo) {
    std::vector<DescribedCore> cores;
    int64_t implementer = 0;
    std::istringstream lines{std::string(cpuinfo)};
    for (std::string text; std::getline(lines, text);) {
        const std::string_view line = text;
        const size_t colon = line.find(':'), at = line.find_first_not_of(" \t", colon + 1);
        if (colon == std::string_view::npos || at == std::string_view::npos) continue;
        const std::string_view name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        const int64_t value = numberOf(line.substr(at), -1);
        if (name == "processor" && value >= 0 && value < 1 << 20) {
            cores.push_back({static_cast<int>(value), 0});
            implementer = 0;
        } else if (name == "CPU implementer" && value > 0 && value <= 0xff) {
            implementer = value;
        } else if (name == "CPU part" && value >= 0 && value <= 0xfff && implementer && !cores.empty()) {
            cores.back().part = static_cast<unsigned>(implementer << kPartBits | value);
        }
    }
    return cores;
}

CoreCaches describedCaches(const std::string& folder, int processor) {
    constexpr int kMaxIndexes = 16;
    constexpr size_t kMaxText = 64;
    CoreCaches caches;
    for (int i = 0; i < kMaxIndexes; ++i) {
        const std::string place =
            folder + "/cpu" + std::to_string(processor) + "/cache/index" + std::to_string(i) + "/";
        const std::string level = beginning(place + "level", kMaxText);
        if (level.empty()) break;
        const std::string type = beginning(place + "type", kMaxText), size = beginning(place + "size", kMaxText);
        const size_t unit = size.find_first_not_of("0123456789");
        const int64_t factor = unit == std::string::npos ? 1
                               : size[unit] == 'K'       ? 1 << 10
                               : size[unit] == 'M'       ? 1 << 20
                                                         : 1;
        const int64_t number = numberOf(size, 0);
        if (number <= 0 || number > 1 << 30 || type.substr(0, 11) == "Instruction") continue;
        if (numberOf(level, 0) == 1) caches.level1Data = number * factor;
        if (numberOf(level, 0) == 2) caches.level2 = number * factor;
    }
    return caches;
}

CoreKind largestCore(const std::vector<CoreKind>& kinds) {
    const auto size = [](const CoreKind& k) { return std::tuple(k.caches.level2, k.caches.level1Data, k.part); };
    const auto largest = std::max_element(kinds.begin(), kinds.end(),
                                          [&](const CoreKind& a, const CoreKind& b) { return size(a) < size(b); });
    return largest == kinds.end() ? CoreKind() : *largest;
}

}  // namespace mnnc
