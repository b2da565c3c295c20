#!/bin/sh
# Builds llama-bench and llama-server of the very llama.cpp that node-llama-cpp is made of, from the
# bundle in its package, for the processor of this machine and without a GPU:
#
#   bench/peers/build-llama-cpp.sh [FOLDER]
#   LLAMA_CPP_BIN=FOLDER/build/bin npm run bench -- models
#
# FOLDER (default: node_modules/.cache/ennead/llama.cpp) takes 1 GB. It needs git, cmake, make and
# g++, nothing from the network, and about ten minutes of two cores.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bundle=$root/node_modules/node-llama-cpp/llama/gitRelease.bundle
folder=${1:-$root/node_modules/.cache/ennead/llama.cpp}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

wanted=$(git bundle list-heads "$bundle" HEAD | cut -d ' ' -f 1)
present=$(git -C "$folder/source" rev-parse HEAD 2>/dev/null || true)
if [ "$present" != "$wanted" ]; then
  rm -rf "$folder/source" "$folder/build"
  git -c advice.detachedHead=false clone --quiet "$bundle" "$folder/source"
fi

cmake -S "$folder/source" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF \
  -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF
nice -n 19 cmake --build "$folder/build" -j "${JOBS:-2}" --target llama-bench llama-server
echo "LLAMA_CPP_BIN=$folder/build/bin"
