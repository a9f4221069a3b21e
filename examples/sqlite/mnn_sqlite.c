/* A loadable extension of SQLite that runs .mnn models: .load mnn_sqlite */
#include <pthread.h>
#include <sqlite3ext.h>

#include "nets.h"
#include "scalars.h"
#include "topk.h"
SQLITE_EXTENSION_INIT1

/* Only the application's own statements may call functions that read files (DIRECTONLY), not a view, trigger or index
 * that came with a database. They are not deterministic, because files change. */
static const struct {
    const char* name;
    int arguments, flags;
    void (*call)(sqlite3_context*, int, sqlite3_value**);
} functions[] = {
    {"mnn_run", 2, SQLITE_DIRECTONLY, sql_run},
    {"mnn_run", 3, SQLITE_DIRECTONLY, sql_run},
    {"mnn_floats", 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, sql_floats},
    {"mnn_floats", 2, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, sql_floats},
    {"mnn_vec", 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, sql_vec},
    {"mnn_version", 0, SQLITE_INNOCUOUS, sql_version},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, OLDEST_SQLITE = 3031000 };

/* The registrations share the ownership of the nets. SQLite releases each share, also when the registration fails. */
static int register_all(sqlite3* db, nets_t* nets) {
    int code = SQLITE_OK, done = 0;
    for (; done < FUNCTIONS && code == SQLITE_OK; done++)
        code = sqlite3_create_function_v2(db, functions[done].name, functions[done].arguments,
                                          SQLITE_UTF8 | functions[done].flags, nets_share(nets), functions[done].call,
                                          NULL, NULL, nets_release);
    if (code == SQLITE_OK)
        code = sqlite3_create_module_v2(db, "mnn_topk", &topk_module, nets_share(nets), nets_release);
    /* The extension is unloaded when its start fails, so no function may remain registered. */
    for (; code != SQLITE_OK && done > 0; done--)
        sqlite3_create_function_v2(db, functions[done - 1].name, functions[done - 1].arguments, SQLITE_UTF8, NULL, NULL,
                                   NULL, NULL, NULL);
    return code;
}

/* Runs SQLITE_EXTENSION_INIT2 once: connections on several threads may load the extension while others use it. */
static void keep_api(const sqlite3_api_routines* api) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    if (!sqlite3_api) SQLITE_EXTENSION_INIT2(api);
    pthread_mutex_unlock(&mutex);
}

/* SQLite derives this name from the name of the file. */
__attribute__((visibility("default"))) int sqlite3_mnnsqlite_init(sqlite3* db, char** message,
                                                                  const sqlite3_api_routines* api);
int sqlite3_mnnsqlite_init(sqlite3* db, char** message, const sqlite3_api_routines* api) {
    keep_api(api);
    if (sqlite3_libversion_number() < OLDEST_SQLITE) {
        *message = sqlite3_mprintf("mnn_sqlite needs SQLite 3.31 or newer, this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    nets_t* const nets = nets_create();
    if (!nets) return SQLITE_NOMEM;
    const int code = register_all(db, nets);
    nets_release(nets);
    return code;
}
