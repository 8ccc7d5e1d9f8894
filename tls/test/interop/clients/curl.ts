// curl, with OpenSSL.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, Task, Workspace } from '../client.ts'
import { opensslCannot, opensslEnv } from '../openssl-config.ts'
import { ask, runProgram } from '../process.ts'

export const curl: Client = {
  name: 'curl',
  install: 'apt-get install curl',
  find: async () => {
    const [, version, openssl] = /^curl (\S+).* OpenSSL\/(\S+)/.exec((await ask('curl', '-V')) ?? '') ?? []
    if (version === undefined || openssl === undefined) return undefined
    return {
      version: `${version} (OpenSSL ${openssl})`,
      cannot: {
        ...opensslCannot(openssl),
        'KU in': 'curl never changes its key',
        export: 'curl does not export',
      },
      prepare: async (workspace) => ({ exchange: (task) => exchange(workspace, task) }),
    }
  },
}

function exchange({ directory, credentials }: Workspace, task: Task) {
  const url = `https://localhost:${task.port}/`
  const upload = join(directory, `curl-${task.port}.upload`)
  if (task.upload !== undefined) writeFileSync(upload, task.upload)
  const { client } = credentials
  const options = [
    ...['-sS', '-i', '--http1.1', '--noproxy', '*', '--cacert', credentials.ca],
    ...['--resolve', `localhost:${task.port}:127.0.0.1`, '-H', 'Connection: close', '-H', 'Expect:'],
    ...(task.upload === undefined ? [] : ['--data-binary', `@${upload}`]),
    ...(task.certificate ? ['--cert', client.certificate, '--key', client.key] : []),
  ]
  const urls = task.resume ? [url, url] : [url]
  return runProgram('curl', [...options, ...urls], { env: opensslEnv(directory, task) })
}
