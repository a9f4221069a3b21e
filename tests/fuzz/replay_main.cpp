// Runs a target without libFuzzer, over given inputs and mutations of them that a seed determines.
//     replay_<target> [-mutations=N] [-seed=N] [-max_len=N] [-slow_units=FOLDER] FILE|FOLDER...
// Inputs that take more than a second of processor time are written into the folder of -slow_units. Exit code 0 when
// every input succeeded; a crash is that of the target.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"
#include "target.h"

namespace {

using Bytes = std::vector<uint8_t>;

constexpr unsigned kSecondsPerInput = 60;  // under a sanitizer on a busy machine

fuzz::Random mutations(1);
double slowest = 0;  // seconds of processor time
std::filesystem::path slowUnits;

Bytes read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        std::fprintf(stderr, "cannot open '%s'\n", path.c_str());
        std::exit(2);
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

double processorSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void run(const Bytes& input) {
    const double begin = processorSeconds();
    alarm(kSecondsPerInput);  // an input that does not end is a failure, too
    LLVMFuzzerTestOneInput(input.data(), input.size());
    alarm(0);
    const double seconds = processorSeconds() - begin;
    slowest = std::max(slowest, seconds);
    if (seconds > 1 && !slowUnits.empty()) {
        const auto name =
            "slow-" +
            std::to_string(std::hash<std::string_view>{}({reinterpret_cast<const char*>(input.data()), input.size()}));
        std::ofstream out(slowUnits / name, std::ios::binary);
        out.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
        std::fprintf(stderr, "%s took %.1f s\n", name.c_str(), seconds);
    }
}

}  // namespace

// libFuzzer has more kinds of mutations; here they must only be repeatable.
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize) {
    fuzz::Random& random = mutations;
    for (size_t k = 1 + random.below(4); k > 0; --k) {
        const size_t at = random.below(size);
        switch (random.below(5)) {
            case 0:
                if (size < maxSize) {
                    std::memmove(data + at + 1, data + at, size - at);
                    data[at] = static_cast<uint8_t>(random.next());
                    ++size;
                }
                break;
            case 1:
                if (size > 1) {
                    std::memmove(data + at, data + at + 1, size - at - 1);
                    --size;
                }
                break;
            case 2:
                if (size > 0) data[at] = static_cast<uint8_t>(random.number());
                break;
            case 3: {
                const size_t length = std::min<size_t>(1 + random.below(16), size);
                if (size > 0)
                    std::memmove(data + random.below(size - length + 1), data + random.below(size - length + 1),
                                 length);
                break;
            }
            default:
                if (size > 0) data[at] ^= static_cast<uint8_t>(1u << random.below(8));
        }
    }
    return size;
}

int main(int argc, char** argv) {
    size_t count = 0, maxSize = 65536;
    std::vector<std::filesystem::path> paths;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&](const char* option) {
            return std::strtoull(word.c_str() + std::strlen(option), nullptr, 10);
        };
        if (word.rfind("-mutations=", 0) == 0)
            count = number("-mutations=");
        else if (word.rfind("-seed=", 0) == 0)
            mutations = fuzz::Random(number("-seed="));
        else if (word.rfind("-max_len=", 0) == 0)
            maxSize = number("-max_len=");
        else if (word.rfind("-slow_units=", 0) == 0)
            slowUnits = word.substr(std::strlen("-slow_units="));
        else if (std::filesystem::is_directory(word))
            for (const auto& entry : std::filesystem::recursive_directory_iterator(word)) {
                if (entry.is_regular_file()) paths.push_back(entry.path());
            }
        else
            paths.emplace_back(word);
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Bytes> seeds;
    for (const auto& path : paths) {
        std::fprintf(stderr, "%s\n", path.c_str());  // the last one named is the one that crashed
        seeds.push_back(read(path));
        run(seeds.back());
    }
    if (seeds.empty()) seeds.emplace_back();
    Bytes input;
    for (size_t i = 0; i < count; ++i) {
        // Mutants are mutated again.
        if (i % 3 == 0 || input.empty()) input = mutations.pick(seeds);
        if (input.size() > maxSize) input.resize(maxSize);
        const size_t size = input.size();
        input.resize(maxSize);
        input.resize(LLVMFuzzerCustomMutator(input.data(), size, maxSize, static_cast<unsigned>(mutations.next())));
        run(input);
    }
    std::fprintf(stderr, "%zu inputs and %zu mutations went through in %.1f s, the slowest took %.0f ms\n",
                 paths.size(), count, processorSeconds(), slowest * 1000);
    return 0;
}
