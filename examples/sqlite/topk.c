/* The table-valued function that lists the largest elements of an output. */
#include "topk.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "run.h"
SQLITE_EXTENSION_INIT3

enum { RANK, CLASS, SCORE, ITEM, MODEL, INPUT, K, ARGUMENTS = 3, DEFAULT_K = 5 };

typedef struct table {
    sqlite3_vtab base;
    nets_t* nets;
} table_t;

typedef struct score {
    double value;
    sqlite3_int64 class;
} score_t;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_value* arguments[ARGUMENTS]; /* copies, which SQLite may ask for later; NULL: not given */
    score_t* rows;                       /* items x per_item, the best first */
    size_t items, per_item, at;
} cursor_t;

static int topk_connect(sqlite3* db, void* nets, int argc, const char* const* argv, sqlite3_vtab** out,
                        char** message) {
    (void)argc;
    (void)argv;
    (void)message;
    int code = sqlite3_declare_vtab(db,
                                    "CREATE TABLE mnn_topk(rank INTEGER, class INTEGER, score REAL, item INTEGER,"
                                    " model HIDDEN, input HIDDEN, k HIDDEN)");
    /* It reads files, so views and triggers in the database must not use it. */
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (code != SQLITE_OK) return code;
    table_t* const table = sqlite3_malloc64(sizeof *table);
    if (!table) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->nets = nets; /* the module's, which outlives its tables */
    *out = &table->base;
    return SQLITE_OK;
}

static int topk_disconnect(sqlite3_vtab* table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

/* Arguments are constraints on the hidden columns; idxNum has a bit for each that is given, in the order of columns. */
static int topk_best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    int given[ARGUMENTS] = {-1, -1, -1}, unusable = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const int argument = info->aConstraint[i].iColumn - MODEL;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable)
            unusable |= 1 << argument;
        else if (given[argument] < 0)
            given[argument] = i;
    }
    int order = 0;
    info->idxNum = 0;
    for (int argument = 0; argument < ARGUMENTS; argument++) {
        if (given[argument] < 0) continue;
        info->idxNum |= 1 << argument;
        info->aConstraintUsage[given[argument]].argvIndex = ++order;
        info->aConstraintUsage[given[argument]].omit = 1;
        unusable &= ~(1 << argument);
    }
    if (unusable) return SQLITE_CONSTRAINT; /* SQLite then tries another order of the join */
    if ((info->idxNum & 3) != 3) {
        sqlite3_free(table->zErrMsg);
        table->zErrMsg = sqlite3_mprintf("mnn_topk: a model and an input are needed");
        return SQLITE_ERROR;
    }
    info->estimatedCost = 1e6;
    info->estimatedRows = DEFAULT_K;
    return SQLITE_OK;
}

static int topk_open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
    (void)table;
    cursor_t* const cursor = sqlite3_malloc64(sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static void reset(cursor_t* cursor) {
    for (int i = 0; i < ARGUMENTS; i++) {
        sqlite3_value_free(cursor->arguments[i]);
        cursor->arguments[i] = NULL;
    }
    sqlite3_free(cursor->rows);
    cursor->rows = NULL;
    cursor->items = cursor->per_item = cursor->at = 0;
}

static int topk_close(sqlite3_vtab_cursor* base) {
    reset((cursor_t*)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

#define COPY_AS(type)                                                                    \
    do {                                                                                 \
        const type* const from = result->data;                                           \
        for (size_t i = 0; i < result->elements; i++) scores[i].value = (double)from[i]; \
        return true;                                                                     \
    } while (0)

static bool copy_scores(const result_t* result, score_t* scores, failure_t* failure) {
    switch (result->type) {
        case MNN_TYPE_FLOAT32:
            COPY_AS(float);
        case MNN_TYPE_INT32:
            COPY_AS(int32_t);
        case MNN_TYPE_UINT8:
            COPY_AS(uint8_t);
        case MNN_TYPE_INT8:
            COPY_AS(int8_t);
        case MNN_TYPE_INT16:
            COPY_AS(int16_t);
        case MNN_TYPE_UINT16:
            COPY_AS(uint16_t);
        default:
            return fail(failure, "scores of element type %d cannot be ordered", (int)result->type);
    }
}

/* Larger values come first, of equal ones the lower class; NaN comes last. */
static int compare(const void* left, const void* right) {
    const score_t *a = left, *b = right;
    const int a_is_nan = a->value != a->value, b_is_nan = b->value != b->value;
    if (a_is_nan != b_is_nan) return a_is_nan - b_is_nan;
    if (a->value > b->value) return -1;
    if (a->value < b->value) return 1;
    return (a->class > b->class) - (a->class < b->class);
}

/* Orders the scores of each item and keeps the first k of them. */
static bool rank(cursor_t* cursor, const result_t* result, size_t k, failure_t* failure) {
    const size_t classes = result->elements / result->items;
    if (classes == 0) return true;
    score_t* const scores = sqlite3_malloc64((sqlite3_uint64)result->elements * sizeof *scores);
    if (!scores) return fail_out_of_memory(failure);
    cursor->rows = scores;
    if (!copy_scores(result, scores, failure)) return false;
    cursor->per_item = k < classes ? k : classes;
    for (size_t item = 0; item < result->items; item++) {
        score_t* const own = scores + item * classes;
        for (size_t i = 0; i < classes; i++) own[i].class = (sqlite3_int64)i;
        qsort(own, classes, sizeof *own, compare);
        memmove(scores + item * cursor->per_item, own, cursor->per_item * sizeof *own);
    }
    cursor->items = result->items;
    return true;
}

static bool read_k(sqlite3_value* value, size_t* k, failure_t* failure) {
    *k = DEFAULT_K;
    if (!value || sqlite3_value_type(value) == SQLITE_NULL) return true;
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || sqlite3_value_int64(value) < 1)
        return fail(failure, "k must be an integer of 1 or more");
    *k = (size_t)sqlite3_value_int64(value);
    return true;
}

static bool fill(cursor_t* cursor, failure_t* failure) {
    sqlite3_value* const model = cursor->arguments[0];
    sqlite3_value* const input = cursor->arguments[1];
    if (sqlite3_value_type(model) == SQLITE_NULL || sqlite3_value_type(input) == SQLITE_NULL) return true; /* no rows */
    const char* path = NULL;
    const void* blob = NULL;
    size_t bytes = 0, k = 0;
    result_t result;
    nets_t* const nets = ((table_t*)cursor->base.pVtab)->nets;
    if (!text_argument(model, "the model", &path, failure) ||
        !blob_argument(input, "the input", &blob, &bytes, failure) || !read_k(cursor->arguments[2], &k, failure) ||
        !run_model(nets, path, blob, bytes, NULL, &result, failure))
        return false;
    const bool ranked = rank(cursor, &result, k, failure);
    sqlite3_free(result.data);
    return ranked;
}

static int topk_filter(sqlite3_vtab_cursor* base, int given, const char* unused, int argc, sqlite3_value** argv) {
    (void)unused;
    cursor_t* const cursor = (cursor_t*)base;
    reset(cursor);
    for (int argument = 0, next = 0; argument < ARGUMENTS && next < argc; argument++) {
        if (!(given & 1 << argument)) continue;
        cursor->arguments[argument] = sqlite3_value_dup(argv[next++]);
        if (!cursor->arguments[argument]) return SQLITE_NOMEM;
    }
    failure_t failure;
    if (fill(cursor, &failure)) return SQLITE_OK;
    if (failure.out_of_memory) return SQLITE_NOMEM;
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = sqlite3_mprintf("mnn_topk: %s", failure.text);
    return SQLITE_ERROR;
}

static int topk_next(sqlite3_vtab_cursor* base) {
    ((cursor_t*)base)->at++;
    return SQLITE_OK;
}

static int topk_eof(sqlite3_vtab_cursor* base) {
    const cursor_t* const cursor = (cursor_t*)base;
    return cursor->at >= cursor->items * cursor->per_item;
}

static int topk_column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
    const cursor_t* const cursor = (cursor_t*)base;
    switch (index) {
        case RANK:
            sqlite3_result_int64(context, (sqlite3_int64)(cursor->at % cursor->per_item) + 1);
            break;
        case CLASS:
            sqlite3_result_int64(context, cursor->rows[cursor->at].class);
            break;
        case SCORE:
            sqlite3_result_double(context, cursor->rows[cursor->at].value);
            break;
        case ITEM:
            sqlite3_result_int64(context, (sqlite3_int64)(cursor->at / cursor->per_item));
            break;
        default:
            if (cursor->arguments[index - MODEL])
                sqlite3_result_value(context, cursor->arguments[index - MODEL]);
            else
                sqlite3_result_int(context, DEFAULT_K);
    }
    return SQLITE_OK;
}

static int topk_rowid(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
    *id = (sqlite3_int64)((cursor_t*)base)->at;
    return SQLITE_OK;
}

/* Without xCreate this is a table-valued function, and CREATE VIRTUAL TABLE is refused. */
const sqlite3_module topk_module = {.xConnect = topk_connect,
                                    .xBestIndex = topk_best_index,
                                    .xDisconnect = topk_disconnect,
                                    .xOpen = topk_open,
                                    .xClose = topk_close,
                                    .xFilter = topk_filter,
                                    .xNext = topk_next,
                                    .xEof = topk_eof,
                                    .xColumn = topk_column,
                                    .xRowid = topk_rowid};
