#!/bin/sh
# usage: start_server.sh WINESERVER PREFIX WINE...
# Starts wine's server for the folder PREFIX, and the services of Windows by a first program. They end when no program has run
# for a minute. They do not have the output of this test, for the end of which ctest would wait.
set -eu
server=$1 prefix=$2
shift 2
mkdir -p "$prefix"
WINEPREFIX=$prefix "$server" -p60 </dev/null >/dev/null 2>&1 || [ $? -eq 2 ]  # 2: one is running
exec "$@" wineboot </dev/null >/dev/null 2>&1
