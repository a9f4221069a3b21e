// What the public functions of each library do with exceptions: a status, and a sentence that the library keeps.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>

#include "base/error.h"

namespace mnnc {

// Runs the body. Where it throws, `keep` gets the sentence. No memory is asked for on the way.
template <typename Keep, typename Body>
Status statusOf(Keep&& keep, Body&& body) noexcept {
    try {
        body();
        return Status::Ok;
    } catch (const Error& error) {
        keep(error.what());
        return error.status();
    } catch (const std::bad_alloc&) {
        keep("the host has no more memory");
        return Status::OutOfMemory;
    } catch (const std::length_error&) {  // a container that is larger than memory can be
        keep("the host has no more memory");
        return Status::OutOfMemory;
    } catch (const std::exception& error) {
        keep(error.what());
        return Status::Internal;
    } catch (...) {
        keep("an unknown exception reached the C boundary");
        return Status::Internal;
    }
}

}  // namespace mnnc
