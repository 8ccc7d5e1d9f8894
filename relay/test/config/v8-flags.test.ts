// The executable becomes a Node with the options of its heap, once, and passes on what it was given.

import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { V8_FLAGS } from '../../src/core/config/v8-flags.ts'

const MAIN: string = path.join(import.meta.dirname, '../../src/main.ts')
/** What each process on the way says of itself, a line each. */
const TELL = '--import=data:text/javascript,console.log(JSON.stringify([process.pid, process.execArgv]))'

async function processes(...options: string[]): Promise<{ pids: Set<number>; taken: string[][] }> {
  const { stdout } = await promisify(execFile)(process.execPath, [...options, TELL, MAIN, '--version'])
  const lines = stdout.trim().split('\n')
  expect(lines.pop()).toMatch(/^\d+\.\d+\.\d+/)
  const told = lines.map((line) => JSON.parse(line) as [number, string[]])
  return { pids: new Set(told.map(([pid]) => pid)), taken: told.map(([, taken]) => taken) }
}

it('is the same process, started again once, and leaves the last word to its command line', async () => {
  expect(V8_FLAGS).toHaveLength(3)
  const own = '--initial-heap-size=64'
  const { pids, taken } = await processes(own)
  expect(pids.size).toBe(1)
  expect(taken).toEqual([
    [own, TELL],
    [...V8_FLAGS, own, TELL],
  ])
})

it('is not started again when it has them', async () => {
  const { taken } = await processes(...V8_FLAGS)
  expect(taken).toEqual([[...V8_FLAGS, TELL]])
})
