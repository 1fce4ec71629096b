#!/bin/sh
# Installs the peers the benchmark compares with into the folder BENCH_PEERS (default bench/.peers).
# What cannot be had is left out, and the benchmark says so. Sidekiq comes from Debian: apt-get install
# redis-server ruby-sidekiq.
set -u
here=$(cd "$(dirname "$0")" && pwd)
peers=${BENCH_PEERS:-$here/.peers}
mkdir -p "$peers"

left_out() { echo "left out: $1" >&2; rm -rf "${peers:?}/$1"; }

for name in huey dramatiq; do
  python3 -m venv "$peers/$name" &&
    "$peers/$name/bin/pip" install --quiet "$name" redis hiredis || left_out "$name"
done
mkdir -p "$peers/bullmq" && cd "$peers/bullmq" && npm init -y >/dev/null &&
  npm install --silent bullmq ioredis || left_out bullmq
command -v sidekiq >/dev/null || echo "left out: sidekiq (apt-get install ruby-sidekiq)" >&2
