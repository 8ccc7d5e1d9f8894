// The lock of the state directory: one holder at a time, and none that ended in between keeps it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withLock } from '../../../src/features/acme/lock.ts'
import { newDirectory } from './acme-relay.ts'

let directory: string
let remove: () => Promise<void>
beforeEach(async () => {
  ;({ directory, remove } = await newDirectory())
})
afterEach(() => remove())
const { signal } = new AbortController()
const write = (pid: number, host = hostname()): Promise<void> =>
  writeFile(join(directory, 'acme.lock'), JSON.stringify({ host, pid, id: 'other' }))

test('many that want it have it one after another, also when one fails, and none is left', async () => {
  let holders = 0
  const most: number[] = []
  const wanted = Array.from({ length: 5 }, (_, index) =>
    withLock(directory, signal, async () => {
      holders += 1
      most.push(holders)
      await new Promise((resolve) => setTimeout(resolve, 5))
      holders -= 1
      if (index === 2) throw new Error('fails')
    }),
  )
  const outcomes = await Promise.allSettled(wanted)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(most).toEqual([1, 1, 1, 1, 1])
  expect(await readdir(directory)).toEqual([])
})

test('that of a process that ended is taken at once, also when this one has its number', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  for (const pid of [child.pid!, process.pid]) {
    await write(pid)
    const text = await withLock(directory, signal, () => readFile(join(directory, 'acme.lock'), 'utf8'))
    expect(text).not.toContain('other')
  }
})

test('that of a process that lives, or of another machine, is waited for until the caller gives up', async () => {
  for (const [pid, host] of [
    [process.ppid, hostname()],
    [1, 'another-machine'],
  ] as const) {
    await write(pid, host)
    const giveUp = AbortSignal.timeout(50)
    await expect(withLock(directory, giveUp, async () => {})).rejects.toThrow(/abort/i)
    expect(await readFile(join(directory, 'acme.lock'), 'utf8')).toContain('other')
  }
})
