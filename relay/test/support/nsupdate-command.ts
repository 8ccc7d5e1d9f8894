// A command for `ACME_DNS_PROVIDER=exec:`, as an operator writes it: a shell script that changes bind9 by nsupdate.

import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bind9 } from '../../../tools/programs/bind9.ts'

const SCRIPT = `#!/bin/sh
# Usage: add-txt NAME VALUE | remove-txt NAME VALUE | set-addresses NAME [IP...] | dnssec
set -eu
action=$1
[ "$action" != dnssec ] || { echo 'state=off'; echo 'message=this zone is not signed'; exit 0; }
name=$2
shift 2
{
  echo "server $DNS_SERVER"
  case $action in
    add-txt) echo "add $name. 0 TXT \\"$1\\"" ;;
    remove-txt) echo "delete $name. TXT \\"$1\\"" ;;
    set-addresses)
      echo "delete $name. A"
      echo "delete $name. AAAA"
      for ip in "$@"; do
        case $ip in *:*) type=AAAA ;; *) type=A ;; esac
        echo "add $name. 0 $type $ip"
      done ;;
    *) echo "$action is not known" >&2; exit 14 ;;
  esac
  echo send
} | "$NSUPDATE" -k "$DNS_KEY" 2>"$0.err" || {
  cat "$0.err" >&2
  case $(cat "$0.err") in *NOTAUTH*BADKEY*|*BADSIG*|*REFUSED*) exit 10 ;; *NOTZONE*) exit 11 ;; esac
  exit 1
}
`

/** Writes the command. @returns its path */
export async function writeNsupdateCommand(
  directory: string,
  { address, keyFile, nsupdate }: Pick<Bind9, 'address' | 'keyFile' | 'nsupdate'>,
): Promise<string> {
  const path = join(directory, 'dns')
  const variables = {
    ...nsupdate.env,
    DNS_SERVER: address.replace(':', ' '),
    DNS_KEY: keyFile,
    NSUPDATE: nsupdate.path,
  }
  const assignments = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`)
  await writeFile(path, SCRIPT.replace('set -eu', ['set -eu', ...assignments].join('\n')))
  await chmod(path, 0o755)
  return path
}
