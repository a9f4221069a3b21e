// Eight threads do everything that may be done with shared interpreters, sessions and tokens, at any moment: create,
// write, resize, run, cancel, map, watch, read, destroy. Meant for the sanitizers; without one it still checks that
// every status is one that the moment allows, and that what a run gives is what one of the written inputs gives.
//
//     mnn_c_stress [--seconds N] [--seed S] [--threads T] [--vulkan] MODEL...
#include <mnn_c.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "statuses.h"
#include "worker.h"

using namespace stress;

int main(int argc, char** argv) {
    long seconds = 10, seed = 1, threads = 8;
    World world;
    std::vector<std::string> paths;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--vulkan")
            world.vulkan = true;
        else if (word == "--seconds" && i + 1 < argc)
            seconds = std::atol(argv[++i]);
        else if (word == "--seed" && i + 1 < argc)
            seed = std::atol(argv[++i]);
        else if (word == "--threads" && i + 1 < argc)
            threads = std::atol(argv[++i]);
        else
            paths.push_back(word);
    }
    if (paths.empty()) {
        std::fprintf(stderr, "which models?\n");
        return 2;
    }
    if (world.vulkan) {
        size_t devices = 0;
        if (mnn_device_count(MNN_FORWARD_VULKAN, &devices) != MNN_OK) {
            std::fprintf(stderr, "%s\n", mnn_last_error());
            return 77;  // skipped
        }
    }
    world.nets = std::vector<Net>(paths.size());
    for (size_t i = 0; i < paths.size(); ++i) {
        world.nets[i].path = paths[i];
        if (!prepare(world.nets[i])) return 1;
    }
    {
        std::vector<std::thread> workers;
        for (long i = 0; i < threads; ++i) workers.emplace_back(Worker(world, static_cast<unsigned>(seed * 1000 + i)));
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
        while (std::chrono::steady_clock::now() < end && !failed)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        world.stop = true;
        for (std::thread& worker : workers) worker.join();
    }
    for (Slot& slot : world.slots) {
        const Held* held = slot.held;
        mnn_session_t* session = held ? held->session : nullptr;
        if (session) MUST(mnn_session_destroy(&session));
    }
    for (Net& net : world.nets) {
        mnn_interpreter_t* handle = net.handle;
        MUST(mnn_interpreter_destroy(&handle));
    }
    for (auto& place : world.tokens) {
        mnn_cancel_t* token = place;
        MUST(mnn_cancel_destroy(&token));
    }
    std::printf("%ld calls, %ld busy, %ld cancelled, %ld outputs compared, seed %ld: %s\n", calls.load(), busy.load(),
                cancelled.load(), checked.load(), seed, failed ? "FAILED" : "passed");
    return failed ? 1 : 0;
}
