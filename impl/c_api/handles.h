// What the opaque handles of mnn_c.h are: a type tag first, checked at each call and cleared on destroy.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mnn_c.h"
#include "session/session.h"

namespace mnnc {

enum class HandleTag : uint32_t {
    Dead = 0,
    Interpreter = 0x4d4e4e49,
    Session = 0x4d4e4e53,
    Tensor = 0x4d4e4e54
};

// Owns the host's log data: the finalizer runs after the last message.
struct LogOwner {
    LogSink sink;
    mnn_finalizer finalizer = nullptr;
    LogOwner() = default;
    LogOwner(const LogOwner&) = delete;
    LogOwner& operator=(const LogOwner&) = delete;
    ~LogOwner() {
        if (finalizer) finalizer(sink.userData);
    }
};

}  // namespace mnnc

struct mnn_tensor {
    mnnc::HandleTag tag = mnnc::HandleTag::Tensor;
    mnn_session* session = nullptr;
    size_t index = 0;
    bool isInput = false;
    const mnnc::Tensor* observed = nullptr;  // what a callback of a run is shown instead
    // While mapped: what was asked for, and the copy where the storage is not row-major.
    int32_t access = 0;
    std::vector<uint8_t> copy = {};
};

struct mnn_interpreter {
    mnnc::HandleTag tag = mnnc::HandleTag::Interpreter;
    // What sessions created from now on may use of an earlier process.
    struct {
        std::mutex mutex;
        std::string path;
        std::vector<uint8_t> bytes;
    } cache;
    std::shared_ptr<mnnc::LogOwner> log;
    std::shared_ptr<const mnnc::Interpreter> impl;
    // File order over all graphs: graph and node.
    std::deque<std::pair<size_t, size_t>> ops;
    std::deque<std::string> typeNames;
};

struct mnn_session {
    mnnc::HandleTag tag = mnnc::HandleTag::Session;
    std::shared_ptr<mnnc::LogOwner> log;
    std::unique_ptr<mnnc::Session> impl;
    std::deque<mnn_tensor> inputs, outputs;  // addresses are handles: they never move
};
