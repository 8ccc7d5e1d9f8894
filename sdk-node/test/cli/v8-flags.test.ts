// The executable becomes a Node with the options of its heap when it is to serve visitors, and only then.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { it as every, expect } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { V8_FLAGS } from '../../src/cli/v8-flags.ts'
import { MAIN } from '../support/svc.ts'

const it = wholeOnly(every, 'variant')

/** Makes each process on the way print its arguments, a line each. */
const TELL =
  '--import=data:text/javascript,console.log("PROCESS",process.pid,JSON.stringify(process.execArgv))'

async function processes(...args: string[]): Promise<{ pids: Set<string>; taken: string[][] }> {
  const { stdout } = await promisify(execFile)(process.execPath, [TELL, MAIN, ...args])
  const told = stdout.split('\n').filter((line) => line.startsWith('PROCESS'))
  const [pids, taken] = [
    told.map((line) => line.split(' ')[1]!),
    told.map((line) => line.replace(/^\S+ \S+ /, '')),
  ]
  return { pids: new Set(pids), taken: taken.map((options) => JSON.parse(options)) }
}

it('is the same process, started again once', async () => {
  expect(V8_FLAGS).toHaveLength(3)
  for (const command of ['expose', 'serve', 'start']) {
    const { pids, taken } = await processes(command, '--help')
    expect(pids.size).toBe(1)
    expect(taken).toEqual([[TELL], [...V8_FLAGS, TELL]])
  }
})

it('stays what it is for what is done at once', async () => {
  for (const args of [['--version'], ['status', '--help']])
    expect((await processes(...args)).taken).toEqual([[TELL]])
})
