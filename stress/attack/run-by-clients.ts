// Runs an attack by clients beside honest visitors, and judges what it did to them and to the relay.
import { setTimeout as pause } from 'node:timers/promises'
import type { Bounds, ClientAttack, Facts, Outcome } from './attack.ts'
import { Attackers } from './attackers.ts'
import { describe, noticed, type Watched, watch, watchFor } from './impact.ts'
import { type ProcessUsage, UsageRecorder, usageOf } from './process-usage.ts'
import type { RelayUnderAttack } from './relay-under-attack.ts'

const MB = 1e6
/**
 * Milliseconds after the attackers' end in which the relay releases their descriptors: its longest deadline, 60 s, and some
 * for a machine that is busy.
 */
const SETTLE_MS = 120_000
const LOOK_MS = 200
/** Bytes above the bound with which an attack has succeeded; it is ended before the machine suffers. */
const RUNAWAY_BYTES: number = 1000 * MB
/** The last words are those of a process that dies. */
const ERRORS_SHOWN = 12

const BOUNDS: Bounds = {
  // A relay with a thousand busy clients has some 100 MB more than an idle one; what the faults of old took was above 1 GB.
  memoryGrowthMaxBytes: 192 * MB,
  // Honest visitors come and go, with a connection at each end of the count.
  descriptorsLeftMax: 24,
  processorShareMax: Number.POSITIVE_INFINITY,
}

export interface Quiet extends Watched {
  usage: ProcessUsage
}

/** Measures honest visitors and the relay while there is no attack. */
export async function quiet(relay: RelayUnderAttack, seconds: number): Promise<Quiet> {
  return { ...(await watchFor(relay, seconds)), usage: await usageOf(relay.pid) }
}

export async function runByClients(
  name: string,
  attack: ClientAttack,
  relay: RelayUnderAttack,
  before: Quiet,
  { isSlice, seed }: { isSlice: boolean; seed: number },
): Promise<Outcome> {
  const seconds = isSlice ? attack.sliceSeconds : attack.seconds
  const bounds = { ...BOUNDS, ...attack.bounds }
  const attackers = await Attackers.gather(name)
  const recorder = new UsageRecorder(relay.pid)
  const start = await usageOf(relay.pid)
  const runaway = start.memoryBytes + bounds.memoryGrowthMaxBytes + RUNAWAY_BYTES
  const from = performance.now()
  const { result: facts, ...during } = await watch(relay, () =>
    attackers.attack({ target: relay.target, seconds, seed }, () => recorder.highest.memoryBytes > runaway),
  )
  const elapsed = (performance.now() - from) / 1000
  const processorSeconds = recorder.highest.processorSeconds - start.processorSeconds
  const descriptorsMax = before.usage.descriptors + bounds.descriptorsLeftMax
  const used: Used = {
    start,
    highest: recorder.highest,
    left: await settled(relay, descriptorsMax),
    processorShare: processorSeconds / elapsed,
  }
  recorder.stop()
  return {
    lines: [`attack: ${inWords(facts)}`, ...describe(before, during), `relay: ${usedInWords(used)}`],
    problems: [
      ...noticed(before, during, attack.patience),
      ...beyond(
        used,
        isSlice ? { ...bounds, processorShareMax: Number.POSITIVE_INFINITY } : bounds,
        descriptorsMax,
      ),
      ...(await failures(relay)),
      ...unlike(facts, attack, isSlice),
    ],
  }
}

interface Used {
  start: ProcessUsage
  highest: ProcessUsage
  /** Descriptors, when the attackers are gone. */
  left: number
  processorShare: number
}

function beyond(
  { start, highest, left, processorShare }: Used,
  bounds: Bounds,
  descriptorsMax: number,
): string[] {
  const growth = highest.memoryBytes - start.memoryBytes
  const problems: string[] = []
  if (growth > bounds.memoryGrowthMaxBytes)
    problems.push(`its memory grew by ${mb(growth)}; ${mb(bounds.memoryGrowthMaxBytes)} is the bound`)
  if (left > descriptorsMax) problems.push(`${left} descriptors are left; ${descriptorsMax} are the bound`)
  if (processorShare > bounds.processorShareMax)
    problems.push(
      `it used ${percent(processorShare)} of a processor; ${percent(bounds.processorShareMax)} is the bound`,
    )
  return problems
}

async function failures(relay: RelayUnderAttack): Promise<string[]> {
  const errors = relay.takeErrors()
  return [
    ...((await relay.isTheSame()) ? [] : ['the relay’s process died']),
    ...(errors.length > 0 ? [`its log tells of errors, ${errors.length} lines:`] : []),
    ...errors.slice(-ERRORS_SHOWN),
  ]
}

/** @returns what the attack did too much of, and, unless it was a slice, too little of */
function unlike(facts: Facts | undefined, { most = {}, least }: ClientAttack, isSlice: boolean): string[] {
  if (facts === undefined) return isSlice ? [] : ['the attackers came to no end']
  const problems: string[] = []
  for (const [fact, bound] of Object.entries(most))
    if (facts[fact]! > bound)
      problems.push(`there were ${figure(facts[fact]!)} ${fact}; ${bound} is the bound`)
  for (const [fact, bound] of isSlice ? [] : Object.entries(least))
    if (facts[fact]! < bound)
      problems.push(`there were ${figure(facts[fact]!)} ${fact}; ${bound} make an attack`)
  return problems
}

/** @returns the descriptors that are left, as soon as they are no more than `most` */
async function settled(relay: RelayUnderAttack, most: number): Promise<number> {
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const { descriptors } = await usageOf(relay.pid).catch(() => ({ descriptors: 0 }))
    if (descriptors <= most || Date.now() > deadline) return descriptors
    await pause(LOOK_MS)
  }
}

function inWords(facts: Facts | undefined): string {
  if (facts === undefined) return 'ended before it came to an end'
  return Object.entries(facts)
    .map(([fact, count]) => `${figure(count)} ${fact}`)
    .join(', ')
}

function usedInWords({ start, highest, left, processorShare }: Used): string {
  return (
    `memory ${mb(start.memoryBytes)}, at most ${mb(highest.memoryBytes)}; ` +
    `descriptors ${start.descriptors}, at most ${highest.descriptors}, then ${left}; ` +
    `processor ${percent(processorShare)}`
  )
}

function mb(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

function figure(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: 2 })
}
