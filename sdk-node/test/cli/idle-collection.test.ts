// `svc` gives memory back when it is idle.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const MODULE = new URL('../../src/cli/idle-collection.ts', import.meta.url).href

it('a process that worked and is idle collects once', async () => {
  const script = `
    import { collectWhenIdle } from ${JSON.stringify(MODULE)}
    import { setTimeout as pause } from 'node:timers/promises'
    let times = 0
    collectWhenIdle({ collect: (options) => { times++; gc(options) }, intervalMs: 100 })
    const work = () => {
      const end = performance.now() + 1_000
      for (let kept = []; performance.now() < end; kept = kept.length > 100 ? kept : [...kept, Array(1e5).fill({})]);
    }
    work()
    const before = process.memoryUsage.rss()
    while (times === 0) await pause(100)
    const after = process.memoryUsage.rss()
    await pause(1_000)
    console.log(JSON.stringify({ before, after, times }))`
  const args = ['--expose-gc', '--initial-heap-size=128', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { before, after, times } = JSON.parse(stdout)
  expect(after).toBeLessThan(before * 0.8)
  expect(times).toBe(1)
})
