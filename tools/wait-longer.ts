// Lets unit tests wait for a condition as long as a slow machine may need, and ends their waits with their file. Vitest's own
// default is one second, and a wait that goes on moves the fake clock of the next file in the process.

import { afterAll, vi } from 'vitest'
import { WAIT_TIMEOUT_MS } from './test-timeouts.ts'

// A process runs many files, and each loads this one again.
const { waitFor, waitUntil } = vi
const waits = new Set<Promise<unknown>>()
const fileEnd = Promise.withResolvers<never>()
let isOver = false

type Options = Parameters<typeof waitFor>[1]

vi.waitFor = (callback, options) => kept(waitFor(inThisFile(callback), longer(options)))
vi.waitUntil = (callback, options) => kept(waitUntil(inThisFile(callback), longer(options)))
// The first hook of its kind is the last to run.
afterAll(async () => {
  Object.assign(vi, { waitFor, waitUntil })
  isOver = true
  // A test that failed may have left the fake one behind.
  vi.useRealTimers()
  fileEnd.resolve(true as never)
  await Promise.allSettled(waits)
})

function kept<T>(wait: Promise<T>): Promise<T> {
  waits.add(wait)
  const remove = (): void => void waits.delete(wait)
  wait.then(remove, remove)
  return wait
}

/** A condition that holds once the tests of the file have ended. */
function inThisFile<T>(callback: () => T | Promise<T>): () => T | Promise<T> {
  return () => {
    if (isOver) return fileEnd.promise
    const value = callback()
    return value instanceof Promise ? Promise.race([value, fileEnd.promise]) : value
  }
}

function longer(options: Options): Options {
  return typeof options === 'number' ? options : { timeout: WAIT_TIMEOUT_MS, ...options }
}
