// gnutls-cli.

import { join } from 'node:path'
import type { Client, Group, Suite, Task, Workspace } from '../client.ts'
import { encodeRequest } from '../http.ts'
import { ask, runProgram } from '../process.ts'
import { EXPORTER_BYTES } from '../site.ts'

const SUITES: Record<Suite, string> = {
  'AES-128-GCM': 'AES-128-GCM',
  'AES-256-GCM': 'AES-256-GCM',
  'CHACHA20-POLY1305': 'CHACHA20-POLY1305',
}
const GROUPS: Record<Group, string> = {
  X25519MLKEM768: 'GROUP-X25519-MLKEM768',
  X25519: 'GROUP-X25519',
  'P-256': 'GROUP-SECP256R1',
  'P-384': 'GROUP-SECP384R1',
}
/** Its share is of the first one; we do not have P-521. */
const RETRY_GROUPS = ['GROUP-SECP521R1', 'GROUP-SECP256R1']

/** It writes each byte by itself. */
const IN_BLOCKS = 'gnutls-cli "$@" | dd status=none bs=64k iflag=fullblock'

export const gnutls: Client = {
  name: 'gnutls',
  install: 'apt-get install gnutls-bin',
  find: async () => {
    const version = /gnutls-cli (\S+)/.exec((await ask('gnutls-cli', '--version')) ?? '')?.[1]
    if (version === undefined) return undefined
    const hybrid = (await ask('gnutls-cli', '--list'))?.includes(GROUPS.X25519MLKEM768)
    return {
      version,
      cannot: {
        compress: 'Debian builds GnuTLS without it',
        ...(!hybrid && { MLKEM: 'this GnuTLS has no X25519MLKEM768' }),
        padding: 'the program has no option for it',
      },
      prepare: async (workspace) => ({ exchange: (task) => exchange(workspace, task) }),
    }
  },
}

function exchange({ directory, credentials }: Workspace, task: Task) {
  const { client } = credentials
  const options = [
    ...['--port', `${task.port}`, '--sni-hostname', 'localhost', '--verify-hostname', 'localhost'],
    ...['--x509cafile', credentials.ca, '--priority', priority(task), '--single-key-share'],
    // What it exports, and that it has a new key, it prints among the messages.
    ...(task.exporter === undefined && !task.keyUpdate
      ? ['--logfile', join(directory, `gnutls-${task.port}.log`)]
      : []),
    ...(task.exporter === undefined
      ? []
      : ['--keymatexport', task.exporter, '--keymatexportsize', `${EXPORTER_BYTES}`]),
    ...(task.resume ? ['--resume', '--waitresumption'] : []),
    ...(task.certificate ? ['--x509certfile', client.certificate, '--x509keyfile', client.key] : []),
    ...(task.keyUpdate ? ['--inline-commands'] : []),
    '127.0.0.1',
  ]
  const input = encodeRequest(task.upload)
  if (task.keyUpdate) return updatingKeys(options, task)
  return runProgram('sh', ['-c', IN_BLOCKS, 'sh', ...options], { input })
}

/** Its second kind of rekeying asks for ours. */
function updatingKeys(options: string[], { upload }: Task) {
  return runProgram('gnutls-cli', options, {
    input: encodeRequest(undefined, true),
    talk: [
      { after: 'HTTP/1.1 200', input: '^rekey1^\n' },
      { after: 'Rekey was completed', input: encodeRequest(upload) },
    ],
  })
}

function priority({ suite, group, retry }: Task): string {
  const groups = retry ? RETRY_GROUPS : group && [GROUPS[group]]
  return [
    'NORMAL:-VERS-ALL:+VERS-TLS1.3',
    ...(suite === undefined ? [] : ['-CIPHER-ALL', `+${SUITES[suite]}`]),
    ...(groups === undefined ? [] : ['-GROUP-ALL', ...groups.map((name) => `+${name}`)]),
  ].join(':')
}
