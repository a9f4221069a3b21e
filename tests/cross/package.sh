# For check_zip.sh and check_archive.sh, which use a package as a stranger does, with `source`, `build` and `work` set: the folder
# of the sources, that of the build, and one for what is unpacked and compiled. They set `compiler` with its flags,
# `runner`, which starts a program, and `suffix`, with which the names of programs end.
runner=()
suffix=

# unpack SUFFIX: unpacks the only package of the build whose name ends so. Sets `prefix`, the folder inside.
unpack() {
    local packages=("$build"/mnn_c-*"$1")
    [ ${#packages[@]} -eq 1 ] && [ -f "${packages[0]}" ] ||
        { echo "expected one package in $build, found ${packages[*]}" >&2; exit 1; }
    rm -rf "$work"
    mkdir -p "$work/programs"
    work=$(cd "$work" && pwd)
    (cd "$work" && cmake -E tar xf "${packages[0]}")
    prefix=("$work"/mnn_c-*)
    prefix=${prefix[0]}
}

# prints TEXT PROGRAM ARGUMENT...: runs a program, whose output must contain the text.
prints() {
    local text=$1 program=$2 output
    shift 2
    output=$(cd "$work" && "${runner[@]}" "$program" "$@" 2>&1) ||
        { echo "$program: exit status $?" >&2; echo "$output" >&2; exit 1; }
    [[ $output == *"$text"* ]] || { echo "$program does not print '$text': $output" >&2; exit 1; }
    echo "$(basename "$program"): $text"
}

# compile NAME ARGUMENT...: makes a program from the header of the package.
compile() {
    local program=$work/programs/$1$suffix
    shift
    "${compiler[@]}" -std=c11 -Wall -Wextra -Werror -I"$prefix/include" -o "$program" "$@"
}

# check_programs LIBRARY SYSTEM FLAG...: a C program for each library, a host that loads the library LIBRARY as a plugin, and the
# tool. SYSTEM is the host's source for dynamic libraries, and FLAG... is for the linker.
check_programs() {
    local library=$1 system=$2
    shift 2
    compile classify_digits "$source/examples/c/classify_digits.c" -L"$prefix/lib" -lmnn_c "$@"
    compile picture "$source/tests/packaging/consumer/picture.c" -L"$prefix/lib" -lmnn_c_image "$@"
    compile convert "$source/tests/packaging/consumer/convert.c" -L"$prefix/lib" -lmnn_c_onnx -lmnn_c "$@"
    compile plugin_host -D_GNU_SOURCE "$source"/examples/plugin_host/{plugin_host,plugin,"library_$system",digits}.c
    prints "held-out images right" "$work/programs/classify_digits$suffix" "$source/examples/digits"
    prints "the values are right" "$work/programs/picture$suffix"
    prints "the net is right" "$work/programs/convert$suffix"
    prints "images right" "$work/programs/plugin_host$suffix" "$library" "$source/examples/digits"
    prints "inspects, runs, checks" "$prefix/bin/mnn$suffix" --help
}

# check_needs ALLOWED LIBRARY...: the libraries of a package need those alone whose names the expression ALLOWED matches;
# `needs LIBRARY` prints the names.
check_needs() {
    local allowed=$1 library names
    shift
    for library in "$@"; do
        names=$(needs "$library")
        [ -n "$names" ] || { echo "$library: its libraries are not known" >&2; exit 1; }
        if grep -viE "^($allowed)$" <<<"$names"; then echo "$library needs that, which is not allowed" >&2; exit 1; fi
        echo "$(basename "$library"): $(stat -Lc %s "$library") bytes, needs $(paste -sd ' ' <<<"$names")"
    done
}
