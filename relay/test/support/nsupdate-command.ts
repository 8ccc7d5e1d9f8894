// The command for `ACME_DNS_PROVIDER=exec:` that docs/operate/dns.md shows, with the bind9 of a test as its server.

import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bind9 } from '../../../tools/programs/bind9.ts'
import { root } from '../../../tools/programs/command.ts'

const SERVER = 'ns1.example.com'
const NSUPDATE = 'nsupdate -v -k /etc/svc/dns.key'

/** Writes the command. @returns its path */
export async function writeNsupdateCommand(
  directory: string,
  { address, keyFile, nsupdate }: Pick<Bind9, 'address' | 'keyFile' | 'nsupdate'>,
): Promise<string> {
  const page = await readFile(join(root, 'docs/operate/dns.md'), 'utf8')
  const [, script = ''] = /A command with `nsupdate`:\n\n```sh\n([^`]*)```/.exec(page) ?? []
  for (const part of [SERVER, NSUPDATE])
    if (!script.includes(part)) throw new Error(`the script of docs/operate/dns.md has no ${part}`)
  const env = Object.entries(nsupdate.env).map(([name, value]) => `${name}='${value}'`)
  const command = `env ${env.join(' ')} '${nsupdate.path}' -v -k '${keyFile}'`
  const path = join(directory, 'dns')
  await writeFile(path, script.replace(SERVER, address.replace(':', ' ')).replace(NSUPDATE, command))
  await chmod(path, 0o755)
  return path
}
