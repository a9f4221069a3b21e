/* Models that stay loaded between the rows of a query. */
#include "nets.h"

#include <string.h>
#include <sys/stat.h>

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

typedef struct entry {
    char* path; /* NULL: free */
    struct stat stamp;
    uint64_t last_use;
    net_t net;
} entry_t;

struct nets {
    int owners;
    uint64_t uses;
    entry_t entries[MAX_NETS];
};

nets_t* nets_create(void) {
    nets_t* const nets = sqlite3_malloc64(sizeof *nets);
    if (nets) {
        memset(nets, 0, sizeof *nets);
        nets->owners = 1;
    }
    return nets;
}

nets_t* nets_share(nets_t* nets) {
    nets->owners++;
    return nets;
}

static void clear(entry_t* entry) {
    mnn_session_destroy(&entry->net.session);
    sqlite3_free(entry->path);
    memset(entry, 0, sizeof *entry);
}

void nets_release(void* data) {
    nets_t* const nets = data;
    if (--nets->owners > 0) return;
    for (int i = 0; i < MAX_NETS; i++) clear(&nets->entries[i]);
    sqlite3_free(nets);
}

/* Returns whether the file system reports the same file with the same contents. */
static bool unchanged(const struct stat* a, const struct stat* b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool prepare(mnn_interpreter_t* model, const char* path, net_t* net, failure_t* failure) {
    size_t inputs = 0;
    if (!succeeded(mnn_interpreter_input_count(model, &inputs), failure)) return false;
    if (inputs != 1) return fail(failure, "'%s' has %zu inputs, only models of one can be run", path, inputs);
    mnn_declaration_t input = {.struct_size = sizeof input};
    if (!succeeded(mnn_interpreter_input_info(model, 0, &input), failure)) return false;
    memcpy(net->dims, input.dims, sizeof net->dims);
    net->rank = (size_t)input.rank;
    net->type = input.type;
    return succeeded(mnn_session_create(model, NULL, &net->session), failure) &&
           succeeded(mnn_session_input(net->session, NULL, &net->input), failure) &&
           succeeded(mnn_tensor_name(net->input, &net->input_name), failure);
}

static bool load(const char* path, net_t* net, failure_t* failure) {
    mnn_interpreter_t* model = NULL;
    mnn_interpreter_options_t options;
    if (!succeeded(mnn_interpreter_options_init(&options, sizeof options), failure)) return false;
    options.load_mode = MNN_LOAD_CHUNKED; /* the file may change while the model is in use */
    const bool loaded = succeeded(mnn_interpreter_create_from_file(path, &options, &model), failure) &&
                        prepare(model, path, net, failure);
    mnn_interpreter_destroy(&model); /* the session keeps the parts of the model that it needs */
    return loaded;
}

/* Returns the entry of a path, else a free one, else the one that was unused for longest. */
static entry_t* choose(nets_t* nets, const char* path) {
    entry_t* oldest = &nets->entries[0];
    for (int i = 0; i < MAX_NETS; i++) {
        entry_t* const entry = &nets->entries[i];
        if (entry->path && strcmp(entry->path, path) == 0) return entry;
        if (entry->last_use < oldest->last_use) oldest = entry; /* free ones have 0 */
    }
    return oldest;
}

static bool replace(entry_t* entry, const char* path, const struct stat* stamp, failure_t* failure) {
    clear(entry);
    entry->path = sqlite3_mprintf("%s", path);
    entry->stamp = *stamp;
    if (!entry->path) return fail_out_of_memory(failure);
    if (load(path, &entry->net, failure)) return true;
    clear(entry);
    return false;
}

bool nets_find(nets_t* nets, const char* path, net_t** net, failure_t* failure) {
    struct stat stamp; /* taken before the file is read: a change meanwhile shows at the next call */
    entry_t* const entry = choose(nets, path);
    const bool there = stat(path, &stamp) == 0;
    if (!there) memset(&stamp, 0, sizeof stamp); /* the library reports why the file cannot be opened */
    const bool fresh = there && entry->path && strcmp(entry->path, path) == 0 && unchanged(&entry->stamp, &stamp);
    if (!fresh && !replace(entry, path, &stamp, failure)) return false;
    entry->last_use = ++nets->uses;
    *net = &entry->net;
    return true;
}
