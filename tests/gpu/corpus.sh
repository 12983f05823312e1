#!/bin/sh
# gpu-corpus: what every backend must pass, on a device.
tilefuzz=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 99
"$tilefuzz" list backends --json | grep '"id":"cuda"' | grep -q '"available":"yes"' || exit 77
exec "$tilefuzz" run corpus/seed/*.trial --backends cuda
