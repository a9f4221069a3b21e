/* The scalar functions. Their user data is the connection's nets_t. */
#ifndef SCALARS_H
#define SCALARS_H

#include <sqlite3ext.h>

/* mnn_run(model, blob [, output]) returns the output as a blob. */
void sql_run(sqlite3_context* context, int count, sqlite3_value** values);

/* mnn_floats(bytes [, scale]) returns a float32 for each byte, times scale. */
void sql_floats(sqlite3_context* context, int count, sqlite3_value** values);

/* mnn_vec(blob) returns the float32 values as a JSON array. */
void sql_vec(sqlite3_context* context, int count, sqlite3_value** values);

/* mnn_version() returns the version of the library. */
void sql_version(sqlite3_context* context, int count, sqlite3_value** values);

#endif
