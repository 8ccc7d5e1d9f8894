// The script at `/api/install.sh`: POSIX sh that downloads the command `svc` from its relay, checks it and installs it.
// The text has neither a backquote nor a brace after a dollar sign, which would need an escape here.

import { DOWNLOAD_FUNCTIONS } from './install-sh-download.ts'
import { NODE_MAJOR_MIN, type Offer } from './offer.ts'

export function renderInstallSh({ origin, release, sums }: Offer): string {
  return `#!/bin/sh
# Installs the command svc, which publishes what runs on this machine, from the relay
# ${origin}. It needs no root, and upgrades svc when it runs again.
#
#   curl -fsSL ${origin}/api/install.sh | sh
#   curl -fsSL ${origin}/api/install.sh | sh -s -- --uninstall
#
# SVC_INSTALL_DIR names another directory than ~/.local/bin, which is /usr/local/bin for root. SVC_CA names a PEM file
# with the authority (CA) of a relay that has one of its own. HTTPS_PROXY and NO_PROXY are obeyed.

relay=${quote(origin)}
release=${quote(release)}
node_major_min=${NODE_MAJOR_MIN}
offered=${quote([...sums.keys()].join(' '))}

# SHA-256 of each download; empty: the relay does not offer it.
sum_of() {
  case $1 in
${[...sums].map(([name, sum]) => `    ${name}) echo ${sum} ;;\n`).join('')}    *) ;;
  esac
}
${DOWNLOAD_FUNCTIONS}${BODY}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

const BODY: string = String.raw`
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

# Sets download: node for the bundle, else the platform of an executable.
choose_download() {
  [ -n "$offered" ] || fail "$relay has no downloads of svc." \
    'Its operator can make them with "npm run binaries", or name a directory that has them in SVC_INSTALL_DIR.'
  case $(uname -s) in
    MINGW* | MSYS* | CYGWIN*) fail "Windows has a script of its own. In PowerShell: irm $relay/api/install.ps1 | iex" ;;
  esac
  if has_node && [ -n "$(sum_of node)" ]; then
    download=node
    return
  fi
  find_platform
  [ -n "$(sum_of "$download")" ] || need_node "$relay offers svc for $offered, and not for $download."
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
  # Rosetta tells a process for x86_64 that it runs on such a machine.
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

# Says what PATH needs, and the command that uses this relay.
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

# The text as a shell reads it back.
quoted() {
  case $1 in
    *[!A-Za-z0-9_./:@%+=,-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
  esac
}

{ main "$@" </dev/null; }
`
