// A process that may open few descriptors: with too few it says so and does not start, with few it refuses newcomers, and it
// never dies, also when the limit falls while it runs.
import { spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { startRelay } from '../../tools/relay/process.ts'
import type { ConditionAttack, Outcome } from './attack.ts'
import { describe, noticed, type Watched, watchFor } from './impact.ts'
import { usageOf } from './process-usage.ts'
import { RelayUnderAttack } from './relay-under-attack.ts'
import { openTcp, openTls, type Target } from './target.ts'

const TOO_FEW = [128, 256] as const
/** The smallest that a relay starts with leaves half of it to connections. */
const FEW = 600
/** Descriptors that are left to a relay whose limit falls while it runs. */
const SPARE = 12
/** New visitors, more than there is room for. */
const NEWCOMERS = 900
const AT_A_TIME = 16
const QUIET_S = 4
/** Visits that need a new connection: those may be refused while there is no room. */
const NEWCOMER_KINDS: ReadonlySet<string> = new Set(['new', 'curl', 'pages', 'register', 'tcp', 'udp'])

export const attack: ConditionAttack = {
  by: 'conditions',
  what: 'few descriptors: newcomers are refused, and the relay never dies',
  seconds: 20,
  sliceSeconds: 0,
  run: async ({ isSlice, seconds }) => {
    const outcomes = await Promise.all([
      ...TOO_FEW.map(startedWith),
      flooded('from the start', isSlice, seconds, { through: ['prlimit', `--nofile=${FEW}:${FEW}`] }),
      flooded('while it runs', isSlice, seconds, { falls: true }),
    ])
    return {
      lines: outcomes.flatMap(({ lines }) => lines),
      problems: outcomes.flatMap(({ problems }) => problems),
    }
  },
}

/** A relay that does not start is to say what is wrong, in a line, and what to do. */
async function startedWith(limit: number): Promise<Outcome> {
  const env = { SVC_URL: 'https://relay.localhost:1', LOG_LEVEL: 'info' }
  try {
    const relay = await startRelay({ env, through: ['prlimit', `--nofile=${limit}:${limit}`] })
    await relay.stop()
    return { lines: [`${limit} descriptors: it starts`], problems: [] }
  } catch (error) {
    const said = (error as Error).message
    const isClear = /open files/.test(said) && /ulimit -n/.test(said) && !said.includes('\n')
    return {
      lines: [`${limit} descriptors: it says “${said}”`],
      problems: isClear ? [] : [`with ${limit} descriptors it ends without saying what to do: ${said}`],
    }
  }
}

async function flooded(
  when: string,
  isSlice: boolean,
  seconds: number,
  { through, falls = false }: { through?: string[]; falls?: boolean },
): Promise<Outcome> {
  const relay = await RelayUnderAttack.start(through ? { isSlice, through } : { isSlice })
  try {
    const before = await watchFor(relay, isSlice ? 0 : QUIET_S)
    const limit = falls ? await lower(relay) : FEW
    const leave = await crowd(relay.target)
    const during = await watchFor(relay, seconds / 2)
    leave()
    if (falls) prlimit(relay.pid, FEW)
    if (!isSlice) await pause(FELT_MS)
    const after = isSlice ? await untilServed(relay) : await watchFor(relay, seconds / 2)
    const problems = [
      ...noticed(before, during, { except: NEWCOMER_KINDS }).map((problem) => `${problem} (without room)`),
      ...noticed(before, after).map((problem) => `${problem} (with room again)`),
    ]
    if (!(await relay.isTheSame()))
      problems.push('the relay’s process died', ...relay.takeErrors().slice(-12))
    return {
      lines: [`${limit} descriptors, ${when}:`, ...describe(before, during)],
      problems: problems.map((problem) => `few descriptors ${when}: ${problem}`),
    }
  } finally {
    await relay.stop()
  }
}

/** The relay accepts again when it has noticed that others left, and publishers whom it refused come again after a pause. */
const FELT_MS = 5000

/** Milliseconds after which a relay with room that does not serve everybody never will. */
const UNFELT_MS = 90_000

/** Watches again and again, until everybody is served. */
async function untilServed(relay: RelayUnderAttack): Promise<Watched> {
  const deadline = performance.now() + UNFELT_MS
  for (;;) {
    const now = await watchFor(relay, 0)
    if (performance.now() > deadline || noticed(now, now).length === 0) return now
  }
}

/** @returns the limit: what the relay has open now, and a few */
async function lower(relay: RelayUnderAttack): Promise<number> {
  const { descriptors } = await usageOf(relay.pid)
  prlimit(relay.pid, descriptors + SPARE)
  return descriptors + SPARE
}

function prlimit(pid: number, soft: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', `${pid}`, `--nofile=${soft}:`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`prlimit: ${stderr}`)
}

/** Connects visitors from many addresses, who stay. @returns a function that makes them leave */
async function crowd(target: Target): Promise<() => void> {
  const held: { destroy(): void }[] = []
  let next = 0
  const newcomer = async (): Promise<void> => {
    while (next < NEWCOMERS) {
      const number = next
      next += 1
      const opened =
        number % 3 === 0
          ? { tcp: await openTcp(target.tcpPort, number) }
          : await openTls(target, number % 3 === 1 ? target.rootHost : target.siteHost, number)
      held.push(opened.tcp)
    }
  }
  // some visitors are neither let in nor refused: the pause ends the wait for them
  await Promise.race([Promise.all(Array.from({ length: AT_A_TIME }, newcomer)), pause(CROWD_MS)])
  return () => {
    next = NEWCOMERS
    for (const socket of held) socket.destroy()
  }
}

/** Milliseconds in which the crowd comes together. */
const CROWD_MS = 4000
