// tstclnt, of Mozilla's NSS.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client, Group, Suite, Task } from '../client.ts'
import { type Credentials, PKCS12_PASSWORD } from '../credentials.ts'
import { encodeRequest } from '../http.ts'
import { ask, runProgram } from '../process.ts'
import { EXPORTER_BYTES } from '../site.ts'

const SUITES: Record<Suite, string> = {
  'AES-128-GCM': ':1301',
  'AES-256-GCM': ':1302',
  'CHACHA20-POLY1305': ':1303',
}
const GROUPS: Record<Group, string> = {
  X25519MLKEM768: 'mlkem768x25519',
  X25519: 'x25519',
  'P-256': 'P256',
  'P-384': 'P384',
}
/** Its share is of the first one; we do not have P-521. */
const RETRY_GROUPS = 'P521,P256'

export const nss: Client = {
  name: 'nss',
  install: 'apt-get install libnss3-tools',
  find: async () => {
    const usage = await ask('tstclnt')
    if (usage === undefined) return undefined
    return {
      version: (await packageVersion()) ?? 'of unknown version',
      cannot: {
        compress: 'the program does not ask for it',
        ...(!usage.includes(GROUPS.X25519MLKEM768) && { MLKEM: 'this NSS has no X25519MLKEM768' }),
        Ed25519: 'NSS has no Ed25519 certificates in TLS',
        'KU in': 'the program has no option for it',
        padding: 'the program has no option for it',
      },
      prepare: async ({ directory, credentials }) => {
        const database = await makeDatabase(join(directory, 'nss'), credentials)
        return { exchange: (task) => exchange(directory, database, task) }
      },
    }
  },
}

async function packageVersion(): Promise<string | undefined> {
  const version = await ask('dpkg-query', '-W', '-f', '$' + '{Version}', 'libnss3-tools')
  return version && /(?:\d+:)?([\d.]+)/.exec(version)?.[1]
}

/** @returns the name of a database that trusts our CA and has the client's certificate */
export async function makeDatabase(directory: string, { ca, client }: Credentials): Promise<string> {
  mkdirSync(directory, { recursive: true })
  const database = `sql:${directory}`
  const run = promisify(execFile)
  await run('certutil', ['-d', database, '-N', '--empty-password'])
  await run('certutil', ['-d', database, '-A', '-t', 'C,,', '-n', 'interop-ca', '-i', ca])
  await run('pk12util', ['-d', database, '-i', client.pkcs12, '-W', PKCS12_PASSWORD, '-K', ''])
  return database
}

function exchange(directory: string, database: string, task: Task) {
  const request = join(directory, `nss-${task.port}.request`)
  writeFileSync(request, encodeRequest(task.upload))
  const groups = task.retry ? RETRY_GROUPS : task.group && GROUPS[task.group]
  return runProgram('tstclnt', [
    ...['-h', '127.0.0.1', '-p', `${task.port}`, '-a', 'localhost', '-d', database, '-V', 'tls1.3:tls1.3'],
    ...['-A', request],
    ...(task.suite === undefined ? [] : ['-c', SUITES[task.suite]]),
    ...(groups === undefined ? [] : ['-I', groups]),
    ...(task.resume ? ['-L', '2'] : []),
    ...(task.exporter === undefined ? [] : ['-x', `${task.exporter}:${EXPORTER_BYTES}`]),
    ...(task.certificate ? ['-n', 'client'] : []),
  ])
}
