// An idle process gives memory back after work, once, and a busy one is left alone.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { it as every, expect } from 'vitest'
import { wholeOnly } from '../../tools/test-depth.ts'

const it = wholeOnly(every, 'clock')

const MODULE = new URL('../src/idle-collection.ts', import.meta.url).href
/** Milliseconds between two looks of the process under test. */
const INTERVAL_MS = 100

/** Runs a process that works, and gives what it prints at its end. */
async function afterWork(script: string): Promise<Record<string, number>> {
  const prelude = `
    import { collectWhenIdle } from ${JSON.stringify(MODULE)}
    import { setTimeout as pause } from 'node:timers/promises'
    const work = (ms) => {
      const end = performance.now() + ms
      for (let kept = []; performance.now() < end; kept = kept.length > 100 ? kept : [...kept, Array(1e5).fill({})]);
    }
    const times = { value: 0 }
    const counting = (options) => { times.value++; gc(options) }`
  const args = ['--expose-gc', '--initial-heap-size=256', '--input-type=module', '-e', prelude + script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

it('a process that worked and is idle gives memory back', async () => {
  const { before, after } = await afterWork(`
    collectWhenIdle({ collect: counting, intervalMs: ${INTERVAL_MS} })
    work(1_000)
    const before = process.memoryUsage.rss()
    while (times.value === 0) await pause(${INTERVAL_MS})
    console.log(JSON.stringify({ before, after: process.memoryUsage.rss() }))`)
  expect(after).toBeLessThan(before! * 0.8)
})

it('it does so once for each time that it worked', async () => {
  const { first, second } = await afterWork(`
    collectWhenIdle({ collect: counting, intervalMs: ${INTERVAL_MS} })
    work(1_000)
    while (times.value === 0) await pause(${INTERVAL_MS})
    await pause(${INTERVAL_MS * 8})
    const first = times.value
    work(1_000)
    while (times.value === first) await pause(${INTERVAL_MS})
    console.log(JSON.stringify({ first, second: times.value }))`)
  expect({ first, second }).toEqual({ first: 1, second: 2 })
})

it('a busy process is left alone', async () => {
  const { collections } = await afterWork(`
    collectWhenIdle({ collect: counting, intervalMs: ${INTERVAL_MS} })
    for (let rounds = 0; rounds < 40; rounds++) {
      work(${INTERVAL_MS / 2})
      await pause(1)
    }
    console.log(JSON.stringify({ collections: times.value }))`)
  expect(collections).toBe(0)
})

it('an end stops it, and it keeps no process alive', async () => {
  const { collections } = await afterWork(`
    collectWhenIdle({ collect: counting, intervalMs: ${INTERVAL_MS} })()
    work(500)
    await pause(${INTERVAL_MS * 5})
    collectWhenIdle({ collect: counting })
    console.log(JSON.stringify({ collections: times.value }))`)
  expect(collections).toBe(0)
})
