#!/bin/sh
# Installs the command svc, which publishes what runs on this machine, from the relay
# https://relay.example. It needs no root, and upgrades svc when it runs again.
#
#   curl -fsSL https://relay.example/api/install.sh | sh
#   curl -fsSL https://relay.example/api/install.sh | sh -s -- --uninstall
#
# SVC_INSTALL_DIR names another directory than ~/.local/bin, which is /usr/local/bin for root. SVC_CA names a PEM file
# with the authority (CA) of a relay that has one of its own. HTTPS_PROXY and NO_PROXY are obeyed.

# What differs by relay. The sums are the SHA-256 of each download, as in: node=SUM linux-amd64=SUM
relay='https://relay.example'
release='0.0.0'
node_major_min=24
sums=''

main() {
  outcome='Nothing was installed.'
  action=install_svc
  force=
  temporary=
  made=
  authority=$SVC_CA
  [ -n "$authority" ] || authority=$CURL_CA_BUNDLE
  for argument; do
    case $argument in
      --uninstall) action=uninstall_svc ;;
      --force) force=yes ;;
      *) fail "There is no option $argument: the options are --uninstall and --force." ;;
    esac
  done
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  choose_directory
  find_installed
  $action
}

say() {
  printf '%s\n' "$@"
}

fail() {
  printf 'svc: %s\n' "$@" "$outcome" >&2
  exit 1
}

clean_up() {
  [ -z "$temporary" ] || rm -rf "$temporary"
  [ -z "$made" ] || rmdir "$directory" 2>/dev/null || :
}

has() {
  command -v "$1" >/dev/null 2>&1
}

choose_directory() {
  directory=$SVC_INSTALL_DIR
  if [ -z "$directory" ]; then
    if [ "$(id -u)" = 0 ]; then
      directory=/usr/local/bin
    elif [ -n "$HOME" ]; then
      directory=$HOME/.local/bin
    else
      fail 'HOME is not set: name a directory in SVC_INSTALL_DIR.'
    fi
  fi
  case $directory in
    /*) ;;
    *) directory=$PWD/$directory ;;
  esac
  program=$directory/svc
}

# Sets found to absent, another, broken or current, and installed to the version.
find_installed() {
  found=absent
  installed=
  if [ ! -e "$program" ] && [ ! -L "$program" ]; then return; fi
  found=another
  if [ -d "$program" ]; then return; fi
  installed=$("$program" --version 2>/dev/null)
  if is_version "$installed"; then
    found=current
    outcome="svc $installed stays as it is: $program"
  elif [ "$(readlink "$program" 2>/dev/null)" = svc.mjs ]; then
    found=broken
  fi
}

is_version() {
  case $1 in
    *[!0-9A-Za-z.+-]*) return 1 ;;
    [0-9]*.[0-9]*.[0-9]*) ;;
    *) return 1 ;;
  esac
}

# Whether the numbers of version $1 are higher than those of $2.
is_newer() {
  printf '%s\n' "$1" "$2" | awk -F '[.+-]' '
    NR == 1 { a = $1; b = $2; c = $3 }
    NR == 2 { exit !(a > $1 + 0 || (a == $1 + 0 && (b > $2 + 0 || (b == $2 + 0 && c > $3 + 0)))) }'
}

uninstall_svc() {
  case $found in
    absent) say "There is no svc in $directory. SVC_INSTALL_DIR names another directory." ;;
    another) refuse_another ;;
    *)
      outcome="$program could not be removed."
      rm -f "$program" "$directory/svc.mjs" || fail "$directory cannot be written to."
      say "svc is gone from $directory. Its identity stays in ~/.config/svc."
      ;;
  esac
}

refuse_another() {
  fail "$program is another program. Name another directory in SVC_INSTALL_DIR."
}

install_svc() {
  if [ -d "$program" ]; then refuse_another; fi
  if [ -z "$force" ]; then
    if [ "$found" = another ]; then refuse_another; fi
    if [ "$installed" = "$release" ]; then
      say "svc $installed is installed already: $program"
      say_next
      return
    fi
    if [ "$found" = current ] && is_newer "$installed" "$release"; then
      say "svc $installed is installed, and $relay offers the older $release: --force would replace it."
      say_next
      return
    fi
  fi
  [ -z "$authority" ] || [ -r "$authority" ] || fail "SVC_CA names $authority, which cannot be read."
  choose_download
  find_tools
  make_temporary
  say "Downloading svc $release for $download from $relay"
  fetch_all "$relay/api/install/bin/$download.gz" "$temporary/download.gz"
  check_sum "$temporary/download.gz"
  unpack
  put_in_place
  if [ "$found" != current ] || [ "$installed" = "$version" ]; then
    say "svc $version is installed: $program"
  elif is_newer "$installed" "$version"; then
    say "svc $version replaced the newer $installed: $program"
  else
    say "svc was upgraded from $installed to $version: $program"
  fi
  say_next
}

# The SHA-256 of download $1; empty: the relay does not offer it.
sum_of() {
  for sum in $sums; do
    case $sum in
      "$1"=*) echo "${sum#*=}" ;;
    esac
  done
}

# Sets download: node for the bundle, else the platform of an executable.
choose_download() {
  [ -n "$sums" ] || fail "$relay has no downloads of svc." \
    'Its operator can make them with "npm run binaries", or name a directory that has them in SVC_INSTALL_DIR.'
  case $(uname -s) in
    MINGW* | MSYS* | CYGWIN*) fail "Windows has a script of its own. In PowerShell: irm $relay/api/install.ps1 | iex" ;;
  esac
  if has_node && [ -n "$(sum_of node)" ]; then
    download=node
    return
  fi
  find_platform
  [ -n "$(sum_of "$download")" ] || need_node "$relay offers svc for $(say "$sums" | sed 's/=[^ ]*//g'), and not for $download."
}

has_node() {
  node_version=$(node --version 2>/dev/null) || return 1
  node_major=$(say "$node_version" | sed -n 's/^v\([0-9]*\)\..*/\1/p')
  [ "$((node_major + 0))" -ge "$node_major_min" ]
}

find_platform() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) need_node "There is no executable of svc for $(uname -s)." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) need_node "There is no executable of svc for the processor $(uname -m)." ;;
  esac
  # Rosetta reports the machine as x86_64 to a translated process.
  if [ "$system" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then machine=arm64; fi
  if [ "$system" = linux ]; then
    if [ "$(getconf LONG_BIT 2>/dev/null)" = 32 ]; then need_node 'There is no executable of svc for 32-bit systems.'; fi
    if is_musl; then need_node 'The executable of svc needs the GNU C library, and this system has musl.'; fi
  fi
  download=$system-$machine
}

is_musl() {
  if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then return 1; fi
  case $(ldd --version 2>&1) in
    *musl*) return 0 ;;
    *) return 1 ;;
  esac
}

need_node() {
  if [ -z "$(sum_of node)" ]; then fail "$1"; fi
  fail "$1" "Where Node $node_major_min or newer is in PATH, svc runs on that: install it, then run this again."
}

# The temporary files are in the file system of the program, so that renaming them is atomic.
make_temporary() {
  elsewhere='Name a directory that you may write to in SVC_INSTALL_DIR.'
  if [ ! -d "$directory" ]; then
    mkdir -p "$directory" 2>/dev/null || fail "$directory cannot be made." "$elsewhere"
    made=yes
  fi
  temporary=$(mktemp -d "$directory/.svc-install.XXXXXX" 2>/dev/null) ||
    fail "$directory cannot be written to." "$elsewhere"
}

find_tools() {
  if has curl; then
    client=curl
  elif has wget; then
    client=wget
    # curl reads both names; wget reads only the lower-case one.
    # shellcheck disable=SC2153
    [ -n "$https_proxy" ] || https_proxy=$HTTPS_PROXY
    # shellcheck disable=SC2153
    [ -n "$no_proxy" ] || no_proxy=$NO_PROXY
    export https_proxy no_proxy
  else
    fail 'curl or wget is needed.'
  fi
  has gzip || fail 'gzip is needed.'
  has sha256sum || has shasum || has openssl || fail 'sha256sum, shasum or openssl is needed to check the download.'
}

# Downloads URL $1 to file $2, and resumes for as long as data arrives.
fetch_all() {
  had=0
  failures=0
  until fetch "$1" "$2"; do
    case $answer in
      416) return ;;
      429 | 5?? | '' | 000 | 2??) ;;
      *) fail "$relay answered with $answer: $1" 'Run this again, for the relay may have changed meanwhile.' ;;
    esac
    case $client-$status in
      curl-23 | wget-3) fail "$directory has no room for the download." ;;
      curl-33 | curl-36) rm -f "$2" ;;
      curl-51 | curl-60 | curl-77 | wget-5)
        fail "There is no trusted TLS connection to $relay: $(last_words)" \
          "For a relay with an authority (CA) of its own: SVC_CA=ca.pem names its file."
        ;;
    esac
    has_now=$(($(size_of "$2")))
    if [ "$has_now" -gt "$had" ]; then failures=0; fi
    had=$has_now
    failures=$((failures + 1))
    [ "$failures" -le 3 ] || fail "The download broke off after $had bytes: $(last_words)" 'Run this again later.'
    sleep "$failures"
  done
}

# Downloads what file $2 still lacks of URL $1. Sets status, and answer to the HTTP status.
fetch() {
  : >"$temporary/log"
  if [ "$client" = curl ]; then
    set -- --fail --location --proto =https --continue-at - --output "$2" --write-out '%{http_code}' \
      --connect-timeout 20 --speed-limit 1 --speed-time 30 --show-error "$1"
    if [ -n "$authority" ]; then set -- --cacert "$authority" "$@"; fi
    if [ -t 2 ]; then
      answer=$(curl --progress-bar "$@")
    else
      answer=$(curl --silent "$@" 2>"$temporary/log")
    fi
    status=$?
    return "$status"
  fi
  set -- -c -O "$2" -T 30 "$1"
  case $(wget --help 2>&1) in
    *--ca-certificate*)
      set -- -nv --tries=1 "$@"
      if [ -n "$authority" ]; then set -- --ca-certificate="$authority" "$@"; fi
      ;;
  esac
  LC_ALL=C wget "$@" 2>"$temporary/log"
  status=$?
  answer=$(sed -n -e 's/.*ERROR \([0-9][0-9][0-9]\).*/\1/p' -e 's/.*HTTP\/1.1 \([0-9][0-9][0-9]\).*/\1/p' "$temporary/log")
  return "$status"
}

# The reason that curl or wget gives.
last_words() {
  if grep '^curl: ' "$temporary/log"; then return; fi
  if [ -s "$temporary/log" ]; then tail -n 1 "$temporary/log"; else echo "$client ended with $status"; fi
}

size_of() {
  if [ -e "$1" ]; then wc -c <"$1"; else echo 0; fi
}

check_sum() {
  wanted=$(sum_of "$download")
  actual=$(sha256_of "$1")
  [ "$actual" = "$wanted" ] || fail "The download is not what $relay announced." \
    "Its SHA-256 is $actual, and $wanted was expected." \
    "Run this again; when it fails again, tell the relay's operator."
}

sha256_of() {
  if has sha256sum; then
    sha256sum <"$1"
  elif has shasum; then
    shasum -a 256 <"$1"
  else
    openssl dgst -sha256 <"$1"
  fi | sed -e 's/^.*= *//' -e 's/ .*//'
}

# Unpacks the download and runs it once. Sets version.
unpack() {
  if [ "$download" = node ]; then file=svc.mjs; else file=svc; fi
  gzip -dc <"$temporary/download.gz" >"$temporary/$file" 2>"$temporary/log" ||
    fail "The download cannot be unpacked: $(tail -n 1 "$temporary/log")"
  chmod 755 "$temporary/$file"
  version=$("$temporary/$file" --version 2>"$temporary/log")
  is_version "$version" || fail "The download does not run on this machine: $(head -n 1 "$temporary/log")" "$(hint)"
}

hint() {
  case $(cat "$temporary/log") in
    *libatomic*) echo 'Debian and Ubuntu have that library in the package libatomic1.' ;;
    *GLIBC*) echo "This system is too old for it; on Node $node_major_min or newer svc would run." ;;
    *'ermission denied'*) echo 'The file system may forbid programs (noexec): name another directory in SVC_INSTALL_DIR.' ;;
    *) echo 'Tell the operator of the relay.' ;;
  esac
}

put_in_place() {
  if [ "$download" = node ]; then
    ln -s svc.mjs "$temporary/svc" || fail "$directory cannot have symbolic links."
    mv -f "$temporary/svc.mjs" "$directory/svc.mjs" || fail "$directory cannot be written to."
  fi
  mv -f "$temporary/svc" "$program" || fail "$directory cannot be written to."
  if [ "$download" != node ]; then rm -f "$directory/svc.mjs"; fi
  made=
}

# Prints what PATH needs, and the command that uses this relay.
say_next() {
  name=svc
  case :$PATH: in
    *:"$directory":*)
      first=$(command -v svc)
      if [ "$first" != "$program" ]; then
        say "Another svc comes first in PATH: $first"
        name=$(quoted "$program")
      fi
      ;;
    *)
      name=$(quoted "$program")
      say "$directory is not in PATH. To call svc by its name, $(path_advice)"
      ;;
  esac
  set -- "$name" expose 3000 --relay "$relay"
  if [ -n "$authority" ]; then set -- "$@" --ca "$(quoted "$authority")"; fi
  say 'To publish what listens on port 3000 of this machine:' "  $*"
}

path_advice() {
  # shellcheck disable=SC2016 # PATH is for the person's shell to expand
  line="export PATH=$(quoted "$directory")"':"$PATH"'
  case $SHELL in
    */fish) echo "run: fish_add_path $(quoted "$directory")" ;;
    */zsh) echo "add this line to ~/.zshrc: $line" ;;
    */bash) echo "add this line to ~/.bashrc: $line" ;;
    *) echo "add this line to ~/.profile: $line" ;;
  esac
}

# Quotes a text for the shell.
quoted() {
  case $1 in
    *[!A-Za-z0-9_./:@%+=,-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
  esac
}

{ main "$@" </dev/null; }
