// openssl s_client.

import { join } from 'node:path'
import type { Client, Task, Workspace } from '../client.ts'
import { encodeRequest } from '../http.ts'
import { OPENSSL_PADDING_BYTES, OPENSSL_SUITES, opensslCannot, opensslGroups } from '../openssl-config.ts'
import { ask, runProgram } from '../process.ts'
import { EXPORTER_BYTES } from '../site.ts'
import { twice } from '../twice.ts'

export const openssl: Client = {
  name: 'openssl',
  install: 'apt-get install openssl',
  find: async () => {
    const version = /OpenSSL (\S+)/.exec((await ask('openssl', 'version')) ?? '')?.[1]
    if (version === undefined) return undefined
    return {
      version,
      cannot: opensslCannot(version),
      prepare: async (workspace) => ({ exchange: (task) => exchange(workspace, task) }),
    }
  },
}

function exchange(workspace: Workspace, task: Task) {
  const options = ['s_client', ...connecting(workspace, task), ...wishing(workspace, task)]
  if (task.keyUpdate) return updatingKeys(options, task)
  const input = encodeRequest(task.upload)
  const run = (...more: string[]) => runProgram('openssl', [...options, ...more], { input })
  // What it exports it does not print when it is quiet.
  if (task.exporter !== undefined) return run('-ign_eof', '-nocommands')
  if (!task.resume) return run('-quiet')
  const session = join(workspace.directory, `openssl-${task.port}.session`)
  return twice(
    () => run('-quiet', '-sess_out', session),
    () => run('-quiet', '-sess_in', session),
  )
}

function connecting({ credentials }: Workspace, { port }: Task): string[] {
  const target = ['-connect', `127.0.0.1:${port}`, '-servername', 'localhost', '-tls1_3']
  return [...target, '-CAfile', credentials.ca, '-verify_return_error', '-verify_hostname', 'localhost']
}

function wishing({ credentials: { client } }: Workspace, task: Task): string[] {
  const groups = opensslGroups(task)
  return [
    ...(task.suite === undefined ? [] : ['-ciphersuites', OPENSSL_SUITES[task.suite]]),
    ...(groups === undefined ? [] : ['-groups', groups]),
    ...(task.padding ? ['-record_padding', `${OPENSSL_PADDING_BYTES}`] : []),
    ...(task.exporter === undefined
      ? []
      : ['-keymatexport', task.exporter, '-keymatexportlen', `${EXPORTER_BYTES}`]),
    ...(task.certificate ? ['-cert', client.certificate, '-key', client.key] : []),
  ]
}

/** A line `K` is a KeyUpdate that asks for ours. */
function updatingKeys(options: string[], { upload }: Task) {
  return runProgram('openssl', options, {
    input: encodeRequest(undefined, true),
    talk: [
      { after: 'HTTP/1.1 200', input: 'K\n' },
      { after: 'KEYUPDATE', input: encodeRequest(upload) },
    ],
  })
}
