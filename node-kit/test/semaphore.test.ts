// The semaphore: how many run at once, in which order, and who leaves the queue.

import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Semaphore } from '../src/semaphore.ts'

test('runs as many at once as it was told, and the others in the order in which they came', async () => {
  const semaphore = new Semaphore(2)
  const events: string[] = []
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  const all = gates.map(({ promise }, index) =>
    semaphore.run(async () => {
      events.push(`begin ${index}`)
      await promise
      events.push(`end ${index}`)
    }),
  )
  await turn()
  expect(events).toEqual(['begin 0', 'begin 1'])
  gates[1]!.resolve()
  await all[1]
  await turn()
  expect(events).toEqual(['begin 0', 'begin 1', 'end 1', 'begin 2'])
  for (const { resolve } of gates) resolve()
  await Promise.all(all)
  expect(events.filter((event) => event.startsWith('begin'))).toEqual(
    [0, 1, 2, 3].map((index) => `begin ${index}`),
  )
})

test('an operation that fails frees its slot', async () => {
  const semaphore = new Semaphore(1)
  await expect(semaphore.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await semaphore.run(async () => 'next')).toBe('next')
})

test('who aborts leaves the queue, and the next one gets the slot', async () => {
  const semaphore = new Semaphore(1)
  const release = await semaphore.acquire()
  const controller = new AbortController()
  const left = semaphore.acquire(controller.signal)
  const next = semaphore.acquire()
  controller.abort(new Error('no longer'))
  await expect(left).rejects.toThrow('no longer')
  await expect(semaphore.acquire(AbortSignal.abort(new Error('never')))).rejects.toThrow('never')
  release()
  release()
  const last = semaphore.acquire()
  let isLast = false
  void last.then(() => {
    isLast = true
  })
  await next
  await turn()
  expect(isLast).toBe(false)
})
