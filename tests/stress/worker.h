// A thread that makes random calls on what all threads share.
#pragma once
#include <mnn_c.h>

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <random>
#include <vector>

#include "nets.h"

namespace stress {

constexpr size_t kSlots = 6;  // sessions that all threads share

// A session with its net, which never change: a thread that has read a slot knows both.
struct Held {
    mnn_session_t* session;
    const Net* net;
};

struct Slot {
    std::atomic<const Held*> held{nullptr};
};

struct World {
    std::vector<Net> nets;
    std::array<Slot, kSlots> slots;
    std::mutex keeping;
    std::deque<Held> kept;  // all sessions that ever existed
    std::array<std::atomic<mnn_cancel_t*>, 4> tokens{};
    bool vulkan = false;
    std::atomic<bool> stop{false};
};

class Worker {
  public:
    Worker(World& world, unsigned seed) : world_(world), random_(seed) {}
    // Runs until the program stops.
    void operator()();

  private:
    mnn_cancel_t* anyToken();
    void create(Slot& slot);
    void destroy(Slot& slot);
    const Held* keep(Held held);
    void renewNet();  // sessions of the former one live on
    void token();
    void write(mnn_session_t* session, const Net* net);
    void resize(mnn_session_t* session);
    void map(mnn_session_t* session);
    void ask(mnn_session_t* session);
    void read(const Slot& slot, const Held* held);
    void run(mnn_session_t* session);

    World& world_;
    std::mt19937 random_;
};

}  // namespace stress
