// mnn_session_trim().
#include "c_api/guard.h"

using namespace mnnc;

mnn_status mnn_session_trim(mnn_session_t* session) {
    return guard([&] { SessionUse(session, Access::Alone, "mnn_session_trim")->impl->trim(); });
}
