// `svc-relay` as an operator runs it: its exit code and what it prints.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { programFile } from '../../../tools/bundler/programs.ts'
import { V8_FLAGS } from '../../src/core/config/v8-flags.ts'
import { INHERITED_ENV } from './inherited-env.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Resolves when the command has ended. @param env its environment, beside what every test process inherits */
export async function svcRelay(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const options = { env: { ...INHERITED_ENV, ...env } }
  // With its flags, it need not start Node a second time.
  const ended = promisify(execFile)(
    process.execPath,
    [...V8_FLAGS, programFile('svc-relay'), ...args],
    options,
  )
  return await ended.then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  )
}
