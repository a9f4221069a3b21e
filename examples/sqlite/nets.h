/* The models that one connection has in use. SQLite lets one thread at a time into a connection, so there are no
 * locks. */
#ifndef NETS_H
#define NETS_H

#include "failure.h"

enum { MAX_NETS = 8 }; /* per connection; the one that was unused for longest makes room */

/* A model of one input, ready to run. */
typedef struct net {
    mnn_session_t* session;
    mnn_tensor_t* input; /* of the session, like the next two */
    const char* input_name;
    int32_t type;               /* the input's, MNN_TYPE_* */
    int32_t dims[MNN_MAX_RANK]; /* as the model declares them, -1: open */
    size_t rank;
} net_t;

typedef struct nets nets_t;

/* Returns NULL when there is no memory. The caller owns the nets, as does every caller of nets_share(); each owner
 * calls nets_release() once. */
nets_t* nets_create(void);
nets_t* nets_share(nets_t* nets);
void nets_release(void* nets);

/* Finds the net of a model file, which is read when it is not loaded yet or when the file changed.
 * net: receives a pointer that is valid until the next call. */
bool nets_find(nets_t* nets, const char* path, net_t** net, failure_t* failure);

#endif
