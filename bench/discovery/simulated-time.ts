// A simulated clock for the code of a relay: it replaces the timers and clocks of this process. Time passes in steps, each as soon as
// the work of the one before is done, however long that took.
import { setImmediate as turn } from 'node:timers/promises'

/** Timers run at the first step that is not before their time. */
export const STEP_MS = 250
/** Code that awaits one promise after another comes to rest in this many turns of the event loop. */
const TURNS = 24
const STEP_NS = BigInt(STEP_MS) * 1_000_000n

interface Timer {
  callback: () => void
  intervalMs: number | undefined
  isOver: boolean
  unref(): Timer
}

/** Maps a step to the timers that are due in it. */
const due = new Map<number, Timer[]>()
const working = new Set<Promise<unknown>>()
let step = 0
let machineNs = 0n

/** Returns the milliseconds since {@link simulateTime}. */
export function elapsedMs(): number {
  return step * STEP_MS
}

/** Replaces the timers and clocks. It is called once, before the relay's code runs. */
export function simulateTime(): void {
  const [date, relative] = [Date.now(), performance.now()]
  machineNs = process.hrtime.bigint()
  Date.now = () => date + elapsedMs()
  performance.now = () => relative + elapsedMs()
  process.hrtime.bigint = () => machineNs
  const start = (callback: () => void, ms = 0, isRepeated = false): Timer => {
    const timer: Timer = {
      callback,
      intervalMs: isRepeated ? ms : undefined,
      isOver: false,
      unref: () => timer,
    }
    plan(timer, ms)
    return timer
  }
  const end = (timer?: Timer): void => {
    if (timer !== undefined) timer.isOver = true
  }
  Object.assign(globalThis, {
    setTimeout: (callback: () => void, ms?: number) => start(callback, ms),
    setInterval: (callback: () => void, ms?: number) => start(callback, ms, true),
    clearTimeout: end,
    clearInterval: end,
  })
}

/** Makes the next step wait for `work`, which other threads do in real time. */
export function awaited<T>(work: Promise<T>): Promise<T> {
  working.add(work)
  const done = (): void => void working.delete(work)
  work.then(done, done)
  return work
}

/** Lets one step pass. */
export async function pass(): Promise<void> {
  step += 1
  machineNs += STEP_NS
  const timers = due.get(step) ?? []
  due.delete(step)
  for (const timer of timers) {
    if (timer.isOver) continue
    timer.callback()
    if (timer.intervalMs !== undefined) plan(timer, timer.intervalMs)
  }
  do {
    for (let count = 0; count < TURNS; count++) await turn()
    await Promise.allSettled(working)
  } while (working.size > 0)
}

function plan(timer: Timer, ms: number): void {
  const at = step + Math.max(1, Math.ceil(ms / STEP_MS))
  const others = due.get(at)
  if (others === undefined) due.set(at, [timer])
  else others.push(timer)
}
