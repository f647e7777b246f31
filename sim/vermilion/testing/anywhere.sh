#!/bin/sh
# OBJCACHE of ScalaTest's simulations: compiles what Verilator has written, without the folder of the test in it. Assertions name their
# source by its path, so that the same block in two tests was compiled twice; a path from the test's folder does as well.
# PRECOMPILED is a precompiled verilated.h, for the two files that include it. Verilator's own files define macros before they do, so they cannot.
folder=$(dirname "$PWD")
grep -lFZ "$folder/" -- *.cpp *.h 2>/dev/null | xargs -0 -r sed -i "s|$folder/||g"
case "$*" in
  *simulation-driver.cpp | *__ALL.cpp) set -- "$@" ${PRECOMPILED:+-include-pch "$PRECOMPILED"} ;;
esac
if command -v ccache >/dev/null; then exec ccache "$@"; fi
exec "$@"
