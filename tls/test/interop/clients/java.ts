// Java's JSSE, in a program that is compiled when the matrix runs.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client, Group, Task, Workspace } from '../client.ts'
import { OPENSSL_SUITES } from '../openssl-config.ts'
import { pipeArguments } from '../pipe-arguments.ts'
import { ask, runProgram } from '../process.ts'

const PROGRAM = join(import.meta.dirname, 'Pipe.java')
const GROUPS: Record<Group, string> = {
  X25519MLKEM768: 'X25519MLKEM768',
  X25519: 'x25519',
  'P-256': 'secp256r1',
  'P-384': 'secp384r1',
}
/** One share for each kind of group, and these are of one kind; we do not have P-521. */
const RETRY_GROUPS = 'secp521r1,secp256r1'
/** JEP 527. */
const FIRST_WITH_HYBRID = 27
/** A KeyUpdate after this many bytes. */
const KEY_LIMITS = 'AES/GCM/NoPadding KeyUpdate 2^10'

export const java: Client = {
  name: 'java',
  install: 'apt-get install default-jdk-headless',
  find: async () => {
    const version = /version "([\d.]+)/.exec((await ask('java', '-version')) ?? '')?.[1]
    if (version === undefined || (await ask('javac', '-version')) === undefined) return undefined
    return {
      version,
      cannot: {
        compress: 'JSSE does not have it',
        ...(Number.parseInt(version, 10) < FIRST_WITH_HYBRID && {
          MLKEM: 'Java before 27 has no X25519MLKEM768',
        }),
        padding: 'JSSE has no call for it',
        export: 'JSSE has a call for it only since Java 25',
      },
      prepare: async (workspace) => {
        await promisify(execFile)('javac', ['-d', workspace.directory, PROGRAM])
        return { exchange: (task) => exchange(workspace, task) }
      },
    }
  },
}

function exchange(workspace: Workspace, task: Task) {
  const groups = task.retry ? RETRY_GROUPS : task.group && GROUPS[task.group]
  return runProgram('java', [
    '-XX:TieredStopAtLevel=1',
    '-Xshare:auto',
    ...(groups === undefined ? [] : [`-Djdk.tls.namedGroups=${groups}`]),
    ...['-cp', workspace.directory, 'Pipe'],
    ...pipeArguments(workspace, task),
    ...(task.suite === undefined ? [] : [`ciphers=${OPENSSL_SUITES[task.suite]}`]),
    ...(task.keyUpdate ? [`keyLimits=${KEY_LIMITS}`] : []),
  ])
}
