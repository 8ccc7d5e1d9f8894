// The functions of `/api/install.sh` that download a file, resume and check it: with curl or wget, and what checks SHA-256.

export const DOWNLOAD_FUNCTIONS: string = String.raw`
find_tools() {
  if has curl; then
    client=curl
  elif has wget; then
    client=wget
    # curl reads both names, and wget that in lower case alone.
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

# Downloads URL $1 to file $2, and resumes until nothing more comes.
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

# Downloads what file $2 does not have yet of URL $1. Sets status, and answer to the HTTP status.
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
`
