#!/bin/sh
# Trains ennead-tiny, writes the GGUF file and measures it:
#
#   training/tiny/train.sh [FOLDER]
#
# FOLDER holds the checkpoints and what is measured (default: /tmp/ennead-tiny). Training goes on
# where it was stopped. It needs Debian's python3-torch, python3-numpy and
# libopenblas0-pthread, and Node for the measuring.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${1:-/tmp/ennead-tiny}
model=$root/src/models/builtin/ennead-tiny.gguf
python=${PYTHON:-/usr/bin/python3}
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

# Three rounds: what was slow to learn in the first is asked more often in the second, and what went
# wrong in new wordings is asked in more of them in the third.
nice -n 19 "$python" "$here/train.py" "$folder" --steps 1900 --decay 1000
nice -n 19 "$python" "$here/train.py" "$folder" --steps 4100 --decay 1500
nice -n 19 "$python" "$here/train.py" "$folder" --steps 5000 --decay 900
"$python" "$here/export.py" "$folder" "$model"
"$python" "$here/examination.py" "$folder"
cd "$root"
nice -n 19 node --import tsx "$here/evaluate.ts" \
  "$model" "$folder/examination.json" "$folder/result.json"
"$python" "$here/report.py" "$folder/result.json" "$model" "$root/src/models/builtin/README.md"
