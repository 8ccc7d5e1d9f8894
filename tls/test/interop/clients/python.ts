// Python's ssl module, with OpenSSL.

import { join } from 'node:path'
import type { Client } from '../client.ts'
import { opensslCannot, opensslEnv } from '../openssl-config.ts'
import { pipeArguments } from '../pipe-arguments.ts'
import { ask, runProgram } from '../process.ts'

const PROGRAM = join(import.meta.dirname, 'pipe.py')
const VERSIONS = 'import platform, ssl; print(platform.python_version(), ssl.OPENSSL_VERSION)'

export const python: Client = {
  name: 'python',
  install: 'apt-get install python3',
  find: async () => {
    const printed = (await ask('python3', '-c', VERSIONS)) ?? ''
    const [, version, openssl] = /^(\S+) OpenSSL (\S+)/.exec(printed) ?? []
    if (version === undefined || openssl === undefined) return undefined
    return {
      version: `${version} (OpenSSL ${openssl})`,
      cannot: {
        ...opensslCannot(openssl),
        'KU in': 'the ssl module has no call for it',
        export: 'the ssl module has no call for it',
      },
      prepare: async (workspace) => ({
        exchange: (task) => {
          const env = opensslEnv(workspace.directory, task)
          return runProgram('python3', [PROGRAM, ...pipeArguments(workspace, task)], { env })
        },
      }),
    }
  },
}
