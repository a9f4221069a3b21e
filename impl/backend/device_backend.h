// A backend whose tensors lie in memory of its own and whose executions are recorded before they run.
//
// The pipeline keeps inputs, outputs and the operands of control flow in host memory; other tensors stay on the device.
// The pipeline requests the copies between the two, plans lifetimes, binds memory, and passes maximal sequences of
// executions to record().
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/recording.h"
#include "backend/shared_buffer.h"

namespace mnnc {

// A range of device memory.
class DeviceBlock {
  public:
    virtual ~DeviceBlock() = default;
    virtual void* host() const noexcept { return nullptr; }  // the block's address, if the host sees it
};
using DeviceBlockPtr = std::shared_ptr<DeviceBlock>;

// A copy between two blocks, which can be repeated any number of times.
class BlockCopy {
  public:
    virtual ~BlockCopy() = default;
    virtual void run() const = 0;  // returns when the copy is complete
};

// An execution that will be recorded, and the number of its scratch in the frame; 0: it needs none.
struct DeviceStep {
    std::shared_ptr<Execution> execution;
    int scratch = 0;
    // The data that the execution keeps in the session that records it (Execution::kept()); null: there is none.
    std::shared_ptr<const ExecutionState> state = nullptr;
};

enum class DeviceUse : uint8_t {
    Compute,   // only the device reads and writes
    Upload,    // the host writes, the device reads
    Download,  // the device writes, the host reads
    Kept       // the device reads and writes in each run, the host between runs
};

class DeviceBackend : public Backend {
  public:
    // Identifies the device that computes. Backends with the same identity and configuration may record each other's
    // executions.
    virtual const void* identity() const noexcept = 0;
    // Bytes of a tensor's storage on the device, whose elements may be narrower than the host's.
    virtual int64_t storageBytes(const Operand& tensor) const = 0;
    virtual int64_t alignment() const noexcept = 0;      // required of offsets in a block
    virtual int64_t bindableBytes() const noexcept = 0;  // the maximum that an execution accesses in one block
    // Throws DeviceLost after a loss, BadState in a forked child, which may not touch memory of the device either.
    virtual void requireUsable() const = 0;
    // Throws OutOfMemory.
    virtual DeviceBlockPtr allocate(int64_t bytes, DeviceUse use) = 0;
    // Wraps a buffer of the host, or makes one of `bytes` where `buffer` requests that. Throws InvalidValue with the
    // fault of the buffer, NotSupported with the feature that the device lacks, OutOfMemory.
    virtual DeviceBlockPtr share(const SharedBuffer& buffer, int64_t bytes) = 0;
    // Describes the `bytes` bytes at an offset of a block, so that the host can use them. A file descriptor in the
    // result is a new one, which the host owns. Throws NotSupported where the host cannot use the block.
    virtual SharedBuffer describe(const DeviceBlock& block, int64_t offset, int64_t bytes,
                                  SharedBuffer::Kind kind) const = 0;
    // Copies bytes from the beginning of one block to the beginning of another.
    virtual std::unique_ptr<BlockCopy> createCopy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes) = 0;
    // Copies from a row-major host tensor through `staging` (host-visible memory in the host's layout).
    virtual std::unique_ptr<Execution> createUpload(const Operand& host, const Operand& staging,
                                                    const Operand& device) = 0;
    // Copies into a row-major host tensor that lies in a Download block.
    virtual std::unique_ptr<Execution> createDownload(const Operand& device, const Operand& host) = 0;
    // Records all steps in order over the memory of a frame, which must be complete and outlive the recording. Throws
    // Error.
    virtual std::unique_ptr<Recording> record(std::span<const DeviceStep> steps, const Frame& frame) = 0;
    // Counts the choices that the device has measured or was given; Backend::cache() contains all of them.
    // measurementsIn() counts the choices in the bytes of a cache.
    virtual size_t measurements() const { return 0; }
    virtual size_t measurementsIn(const std::vector<uint8_t>&) const { return 0; }
};

}  // namespace mnnc
