// What clients that use OpenSSL cannot be told by options, they are told by its configuration file.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Group, Suite, Task } from './client.ts'
import type { ColumnName } from './column-name.ts'
import { atLeast } from './process.ts'

export const OPENSSL_SUITES: Record<Suite, string> = {
  'AES-128-GCM': 'TLS_AES_128_GCM_SHA256',
  'AES-256-GCM': 'TLS_AES_256_GCM_SHA384',
  'CHACHA20-POLY1305': 'TLS_CHACHA20_POLY1305_SHA256',
}
const OPENSSL_GROUPS: Record<Group, string> = {
  X25519MLKEM768: 'X25519MLKEM768',
  X25519: 'X25519',
  'P-256': 'P-256',
  'P-384': 'P-384',
}
/** We do not have X448: OpenSSL sends a share of the first alone. */
const OPENSSL_RETRY_GROUPS = 'X448:P-256'
/** Records are padded to a multiple of it, in bytes. */
export const OPENSSL_PADDING_BYTES = 512

export function opensslGroups({ group, retry }: Task): string | undefined {
  return retry ? OPENSSL_RETRY_GROUPS : group && OPENSSL_GROUPS[group]
}

/** `OPENSSL_CONF` for a task. Node reads its section from `nodejs_conf`. */
export function opensslEnv(directory: string, task: Task): { OPENSSL_CONF: string } {
  const groups = opensslGroups(task)
  const commands = [
    'MinProtocol = TLSv1.3',
    ...(task.suite === undefined ? [] : [`Ciphersuites = ${OPENSSL_SUITES[task.suite]}`]),
    ...(groups === undefined ? [] : [`Groups = ${groups}`]),
    ...(task.padding ? [`RecordPadding = ${OPENSSL_PADDING_BYTES}`] : []),
  ]
  const sections = ['openssl_conf = init', 'nodejs_conf = init', '[init]', 'ssl_conf = ssl']
  const lines = [...sections, '[ssl]', 'system_default = tls', '[tls]', ...commands, '']
  const file = join(directory, `openssl-${task.port}.cnf`)
  writeFileSync(file, lines.join('\n'))
  return { OPENSSL_CONF: file }
}

export function opensslCannot(version: string): Partial<Record<ColumnName, string>> {
  return {
    compress: 'distributions build OpenSSL without it',
    ...(!atLeast(version, '3.5') && { MLKEM: 'OpenSSL before 3.5 has no X25519MLKEM768' }),
  }
}
