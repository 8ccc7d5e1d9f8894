#!/bin/sh
# Installs what `npm run bench -- node` is measured beside: `BENCH_PEERS=FOLDER sh bench/node/peers.sh`, some minutes, and
# then the benchmark with the same BENCH_PEERS. What cannot be had here is left out; the benchmark names it.
set -u
: "${BENCH_PEERS:?names the folder to install into}"
mkdir -p "$BENCH_PEERS/bin"
bin="$(cd "$BENCH_PEERS/bin" && pwd)"

# Builds frps and frpc in a copy of their module and without their web pages: `go install` takes no module that replaces
# another one.
build_frp() (
  copy="$(mktemp -d)"
  trap 'rm -rf "$copy"' EXIT
  module="$(go mod download -json github.com/fatedier/frp@v0.70.1 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')"
  [ -n "$module" ] && cp -r "$module/." "$copy" && chmod -R u+w "$copy" && cd "$copy" || exit 1
  for program in frps frpc; do
    GOFLAGS=-mod=mod go build -trimpath -tags noweb -o "$bin/$program" "./cmd/$program" || exit 1
  done
)

[ "$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get install -y -q openssh-server
if command -v go > /dev/null; then
  GOBIN="$bin" go install github.com/jpillora/chisel@latest
  build_frp
fi
if command -v cargo > /dev/null; then
  cargo install -q --root "$BENCH_PEERS" bore-cli
  cargo install -q --root "$BENCH_PEERS" rathole
fi
[ -x "$bin/frps" ] || command -v frps > /dev/null || echo "frp: put frps and frpc of a release into $bin"
