// mnn_session_trim(): releases the plans that are not in use, and the memory that only they need.
#include "c_api/guard.h"

using namespace mnnc;

mnn_status mnn_session_trim(mnn_session_t* session) {
    return guard([&] { SessionUse(session, Access::Alone, "mnn_session_trim")->impl->trim(); });
}
