/* mnn_topk(model, input [, k]): the k largest scores of a model's first output, as a table
 * (rank, class, score, item). */
#ifndef TOPK_H
#define TOPK_H

#include <sqlite3ext.h>

/* aux of the module: the connection's nets_t. */
extern const sqlite3_module topk_module;

#endif
