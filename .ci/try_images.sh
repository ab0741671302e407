#!/bin/bash
# Run the images that were built as ubp:ci and ubp:server, on this checkout, and compare their sizes with the limit.
set -euo pipefail
MAX_MB=200

for name in ci server; do
  docker run --rm "ubp:$name" ubp --version
  docker run --rm --volume "$PWD:/work:ro" "ubp:$name" ubp status
done
docker run --rm ubp:ci sh -c 'git init --quiet /tmp/a && cd /tmp/a && echo "[x](y.md)" > a.md && ! ubp check'
docker run --rm ubp:server ubp hub --help > /dev/null

size() { echo $(($(docker image inspect --format '{{.Size}}' "ubp:$1") / 1000000)); }
echo "ci: $(size ci) MB, server: $(size server) MB"
[ "$(size ci)" -lt "$MAX_MB" ] && [ "$(size server)" -lt "$MAX_MB" ]
