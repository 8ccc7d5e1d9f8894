#!/bin/sh
# Installs what `npm run bench -- node` is measured beside: `BENCH_PEERS=FOLDER sh bench/node/peers.sh`, some minutes, and
# then the benchmark with the same BENCH_PEERS. What cannot be had here is left out; the benchmark names it.
set -u
: "${BENCH_PEERS:?names the folder to install into}"
mkdir -p "$BENCH_PEERS/bin"

[ "$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get install -y -q openssh-server
if command -v go > /dev/null; then
  GOBIN="$(cd "$BENCH_PEERS/bin" && pwd)" go install github.com/jpillora/chisel@latest
fi
if command -v cargo > /dev/null; then
  cargo install -q --root "$BENCH_PEERS" bore-cli
  cargo install -q --root "$BENCH_PEERS" rathole
fi
command -v frps > /dev/null || echo "frp: put frps and frpc of a release into $BENCH_PEERS/bin"
