#!/bin/sh
# Installs what `npm run bench -- relay` is measured beside: `BENCH_PEERS=FOLDER sh bench/relay/peers.sh`, and then the
# benchmark with the same BENCH_PEERS. Packages are Debian's; the Go programs are built offline, from their sources here.
set -u
: "${BENCH_PEERS:?names the folder to install into}"
mkdir -p "$BENCH_PEERS/bin"
bin="$(cd "$BENCH_PEERS/bin" && pwd)"
peers="$(cd "$(dirname "$0")/peers" && pwd)"

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  # Debian starts a server when it is installed, unless there is a policy. A machine's own is left as it is.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod +x "$policy"
  fi
  go=$(command -v go > /dev/null || echo golang-go)
  apt-get install -y -q --no-install-recommends haproxy nginx libnginx-mod-stream $go \
    golang-github-hashicorp-yamux-dev golang-github-gorilla-websocket-dev
fi
if command -v go > /dev/null; then
  # without modules, from the folder where Debian keeps sources
  export GO111MODULE=off GOPATH=/usr/share/gocode
  go build -o "$bin/svc-bench-splice" "$peers/splice/main.go"
  go build -o "$bin/svc-bench-carrier" "$peers/carrier/main.go"
fi
