/* The example extension in a process that uses SQLite as a library: connections on threads, interleaved statements, the
 * models that a connection keeps and the resources that it leaves, and a failure of every allocation of SQLite. */
#include <malloc.h>
#include <pthread.h>
#include <sqlite3.h>
#include <unistd.h>

#include "../c_abi/process.h"
#include "../c_abi/support.h"

enum { IMAGES = 40, WORKERS = 4, NETS = 8 }; /* NETS: what a connection keeps */

static const char* const LABEL = "SELECT class FROM mnn_topk(?1, ?2, 1)";

/* ---- An allocator whose nth allocation fails --------------------------------------------------------------------- */

static sqlite3_mem_methods original;
static int allocations_left = -1; /* below 0: none fails. Only set while there is one thread */
static bool failed_once;

static bool fails_now(void) {
    if (allocations_left < 0) return false;
    if (allocations_left-- > 0) return false;
    failed_once = true;
    return true;
}

static void* failing_malloc(int size) {
    return fails_now() ? NULL : original.xMalloc(size);
}

static void* failing_realloc(void* memory, int size) {
    return fails_now() ? NULL : original.xRealloc(memory, size);
}

static void install_allocator(void) {
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &original), SQLITE_OK);
    sqlite3_mem_methods failing = original;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
}

/* ---- Connections and statements ---------------------------------------------------------------------------------- */

static int open_with_extension(sqlite3** db) {
    *db = NULL;
    char* message = NULL;
    int code = sqlite3_open(":memory:", db);
    if (code == SQLITE_OK) code = sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    if (code == SQLITE_OK) code = sqlite3_load_extension(*db, MNN_C_SQLITE_EXTENSION, NULL, &message);
    if (code != SQLITE_OK && allocations_left < 0 && !failed_once) print_error("%s\n", message);
    sqlite3_free(message);
    return code;
}

static sqlite3* connection(void) {
    sqlite3* db = NULL;
    assert_int_equal(open_with_extension(&db), SQLITE_OK);
    return db;
}

static sqlite3_stmt* prepare(sqlite3* db, const char* sql) {
    sqlite3_stmt* statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    return statement;
}

static void bind(sqlite3_stmt* statement, const char* path, const float* pixels) {
    assert_int_equal(sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC), SQLITE_OK);
    assert_int_equal(sqlite3_bind_blob(statement, 2, pixels, PIXELS * sizeof(float), SQLITE_STATIC), SQLITE_OK);
}

static int classify_by_sql(sqlite3_stmt* statement, const char* path, uint32_t seed) {
    float pixels[PIXELS];
    fill_pixels(pixels, PIXELS, seed);
    if (sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_blob(statement, 2, pixels, sizeof pixels, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        return -1;
    const int class = sqlite3_column_int(statement, 0);
    return sqlite3_reset(statement) == SQLITE_OK ? class : -1;
}

static int wanted[IMAGES]; /* classes of the seeded images */

static void* classify_alone(void* connection_or_null) {
    sqlite3* db = connection_or_null;
    const bool own = db == NULL;
    sqlite3_stmt* statement = NULL;
    bool fine = !own || open_with_extension(&db) == SQLITE_OK;
    fine = fine && sqlite3_prepare_v2(db, LABEL, -1, &statement, NULL) == SQLITE_OK;
    for (int i = 0; i < 4 * IMAGES && fine; ++i)
        fine = classify_by_sql(statement, MNN_C_DIGITS_MODEL, (uint32_t)(i % IMAGES)) == wanted[i % IMAGES];
    fine = sqlite3_finalize(statement) == SQLITE_OK && fine;
    if (own) fine = sqlite3_close(db) == SQLITE_OK && fine;
    return fine ? classify_alone : NULL; /* any address but NULL */
}

static void run_on_threads(sqlite3* shared) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; ++i) assert_int_equal(pthread_create(&threads[i], NULL, classify_alone, shared), 0);
    for (int i = 0; i < WORKERS; ++i) {
        void* fine = NULL;
        assert_int_equal(pthread_join(threads[i], &fine), 0);
        assert_non_null(fine);
    }
}

static void find_wanted(void** state) {
    (void)state;
    sqlite3* db = connection();
    sqlite3_stmt* statement = prepare(db, LABEL);
    bool several = false;
    for (uint32_t i = 0; i < IMAGES; ++i) {
        wanted[i] = classify_by_sql(statement, MNN_C_DIGITS_MODEL, i);
        assert_in_range(wanted[i], 0, CLASSES - 1);
        several = several || wanted[i] != wanted[0];
    }
    assert_true(several);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void connections_on_threads(void** state) {
    (void)state;
    run_on_threads(NULL);
}

/* SQLite serializes: the functions must not need a lock. */
static void one_connection_on_threads(void** state) {
    (void)state;
    if (sqlite3_threadsafe() != 1) skip();
    sqlite3* db = connection();
    run_on_threads(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Rows of two statements in turn, on two connections and on one: each cursor has its own rows. */
static void statements_side_by_side(void** state) {
    (void)state;
    sqlite3* db[] = {connection(), connection()};
    for (int second = 0; second < 2; ++second) {
        float pixels[2][PIXELS];
        sqlite3_stmt* statements[2];
        int classes[2][CLASSES];
        for (int i = 0; i < 2; ++i) {
            fill_pixels(pixels[i], PIXELS, (uint32_t)i);
            statements[i] = prepare(db[i && second], "SELECT class FROM mnn_topk(?1, ?2, 10)");
            bind(statements[i], MNN_C_DIGITS_MODEL, pixels[i]);
        }
        for (int row = 0; row < CLASSES; ++row)
            for (int i = 0; i < 2; ++i) {
                assert_int_equal(sqlite3_step(statements[i]), SQLITE_ROW);
                classes[i][row] = sqlite3_column_int(statements[i], 0);
            }
        for (int i = 0; i < 2; ++i) {
            int seen = 0;
            for (int row = 0; row < CLASSES; ++row) seen |= 1 << classes[i][row];
            assert_int_equal(seen, (1 << CLASSES) - 1);
            assert_int_equal(classes[i][0], wanted[i]);
            assert_int_equal(sqlite3_step(statements[i]), SQLITE_DONE);
            assert_int_equal(sqlite3_finalize(statements[i]), SQLITE_OK);
        }
    }
    assert_int_equal(sqlite3_close(db[0]), SQLITE_OK);
    assert_int_equal(sqlite3_close(db[1]), SQLITE_OK);
}

/* The extension is loaded again into a connection that has it, also from SQL, while its models are in use. */
static void loaded_twice(void** state) {
    (void)state;
    sqlite3* db = connection();
    sqlite3_stmt* statement = prepare(db, LABEL);
    assert_int_equal(classify_by_sql(statement, MNN_C_DIGITS_MODEL, 0), wanted[0]);
    assert_int_equal(sqlite3_load_extension(db, MNN_C_SQLITE_EXTENSION, NULL, NULL), SQLITE_OK);
    assert_int_equal(classify_by_sql(statement, MNN_C_DIGITS_MODEL, 1), wanted[1]);
    sqlite3_exec(db, "SELECT load_extension('" MNN_C_SQLITE_EXTENSION "')", NULL, NULL, NULL);
    assert_int_equal(classify_by_sql(statement, MNN_C_DIGITS_MODEL, 2), wanted[2]);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ---- What is kept, and what is left ------------------------------------------------------------------------------ */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED /* mallinfo2() does not count a sanitizer's heap, and libraries stay mapped */
#endif

#ifndef SANITIZED
static size_t heap_bytes(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void copy_model(const char* path) {
    size_t size = 0;
    unsigned char* bytes = read_whole_file(MNN_C_DIGITS_MODEL, &size);
    FILE* file = fopen(path, "wb");
    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
}

static void models_are_bounded(void** state) {
    (void)state;
    char folder[] = "/tmp/mnn_c_sqlite_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    sqlite3* db = connection();
    sqlite3_stmt* statement = prepare(db, LABEL);
    const size_t before = heap_bytes();
    size_t full = 0;
    for (int i = 0; i < 5 * NETS; ++i) {
        snprintf(path, sizeof path, "%s/%d.mnn", folder, i);
        copy_model(path);
        assert_int_equal(classify_by_sql(statement, path, 0), wanted[0]);
        if (i == NETS - 1) full = heap_bytes();
    }
    const size_t one = (full - before) / NETS, after = heap_bytes();
    print_message("a model takes %zu bytes; %d: %zu, %d: %zu\n", one, NETS, full - before, 5 * NETS, after - before);
    assert_true(one > 10000);
    assert_true(after < full + one);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(heap_bytes() < before + one);
    for (int i = 0; i < 5 * NETS; ++i) {
        snprintf(path, sizeof path, "%s/%d.mnn", folder, i);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}
#endif

/* SQLite unloads an extension with the last connection that has it. */
static void nothing_is_left(void** state) {
    (void)state;
    const int descriptors = descriptor_count(), threads = thread_count();
    for (int round = 0; round < 3; ++round) {
        sqlite3* db = connection();
        sqlite3_stmt* statement = prepare(db, LABEL);
        assert_int_equal(classify_by_sql(statement, MNN_C_DIGITS_MODEL, 0), wanted[0]);
        assert_true(mappings_of("mnn_sqlite.so") > 0 && mappings_of("libmnn_c") > 0);
        /* The connection lives until its last statement ends. */
        assert_int_equal(sqlite3_close_v2(db), SQLITE_OK);
        assert_int_equal(classify_by_sql(statement, MNN_C_DIGITS_MODEL, 1), wanted[1]);
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
        assert_int_equal(settled_thread_count(threads), threads);
        assert_int_equal(descriptor_count(), descriptors);
#ifndef SANITIZED
        assert_int_equal(mappings_of("mnn_sqlite.so"), 0);
        assert_int_equal(mappings_of("libmnn_c"), 0);
#endif
    }
    assert_int_equal(sqlite3_memory_used(), 0);
}

/* ---- No memory --------------------------------------------------------------------------------------------------- */

/* Ignores failures, as long as no wrong result is returned. */
static void live_through(void) {
    static const char* const statements[] = {
        "SELECT length(mnn_run('" MNN_C_DIGITS_MODEL "', mnn_floats(zeroblob(64), 0.5), 'scores'))",
        "SELECT count(*) + 30 FROM mnn_topk('" MNN_C_DIGITS_MODEL "', zeroblob(512), 5)",
        "SELECT length(mnn_vec(mnn_floats(zeroblob(20)))) - 1", /* 20 zeros, 19 commas, two brackets */
        "SELECT 40 + (mnn_run('no such file', x'00') IS NULL)",
    };
    sqlite3* db = NULL;
    if (open_with_extension(&db) == SQLITE_OK)
        for (size_t i = 0; i < sizeof statements / sizeof *statements; ++i) {
            sqlite3_stmt* statement = NULL;
            int code = sqlite3_prepare_v2(db, statements[i], -1, &statement, NULL);
            if (code == SQLITE_OK) code = sqlite3_step(statement);
            if (code == SQLITE_ROW)
                assert_int_equal(sqlite3_column_int(statement, 0), 40);
            else if (i == 3)
                assert_true(code == SQLITE_ERROR || code == SQLITE_NOMEM);
            else
                assert_int_equal(code, SQLITE_NOMEM);
            sqlite3_finalize(statement);
        }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void memory_ends_everywhere(void** state) {
    (void)state;
    int reached = 0;
    do {
        failed_once = false;
        allocations_left = reached++;
        live_through();
        allocations_left = -1;
        assert_int_equal(sqlite3_memory_used(), 0);
    } while (failed_once);
    print_message("%d allocations failed, one at a time\n", reached - 1);
    assert_true(reached > 100);
}

int main(void) {
    install_allocator();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_wanted), /* first */
        cmocka_unit_test(connections_on_threads),
        cmocka_unit_test(one_connection_on_threads),
        cmocka_unit_test(statements_side_by_side),
        cmocka_unit_test(loaded_twice),
#ifndef SANITIZED
        cmocka_unit_test(models_are_bounded),
#endif
        cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(memory_ends_everywhere),
    };
    return cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
