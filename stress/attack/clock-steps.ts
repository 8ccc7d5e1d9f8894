// The relay's clock steps by a day, forwards and back, as after a bad battery or a wrong time server: the machine of its
// visitors and sites keeps the right time. Debian's `faketime` tells the relay's process, and no other, what time it is.
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PATH, type PublicStateResponse } from '@svc/protocol'
import { aptGet, ensure } from '../../tools/programs/install.ts'
import { dataOf, newIdentity, RelayApi } from '../../tools/relay/api-client.ts'
import { visitorOf } from '../../tools/site/node-site.ts'
import type { ConditionAttack, Outcome } from './attack.ts'
import { describe, noticed, watchFor } from './impact.ts'
import { RelayUnderAttack } from './relay-under-attack.ts'
import type { Target } from './target.ts'

/** Away, back, the other way, and back again. */
const STEPS = ['+1d', '+0', '-1d', '+0'] as const
const STEPS_IN_A_SLICE = 2
/** The library looks at what time it must report this often, in seconds. */
const LOOK_S = 1
/** Milliseconds until a step of the clock is noticed everywhere. */
const FELT_MS: number = (LOOK_S + 1) * 1000
/** Milliseconds after which a clock that has not stepped never will: a busy machine takes seconds to look. */
const UNFELT_MS = 30_000
const AGAIN_MS = 200
const QUIET_S = 4
/** A lease is there before the step. */
const BEGUN_MS = 300
const HOUR_MS = 3_600_000
/** A lease that is not renewed: it is there for most of this, and gone then, soon or on a busy machine later. */
const LEASE_TTL_S = 6
const LEASE_THERE_MS = 4_000
const LEASE_GONE_MS = 60_000

export const attack: ConditionAttack = {
  by: 'conditions',
  what: 'the clock steps a day forwards and back',
  seconds: 40,
  sliceSeconds: 0,
  run: async ({ isSlice, seconds }) => {
    const library = ensure(findLibrary, [aptGet('faketime')])
    if (library === undefined) return skipped('there is no libfaketime (Debian faketime)')
    const directory = await mkdtemp(path.join(tmpdir(), 'svc-attack-clock-'))
    const clock = new SteppedClock(library, path.join(directory, 'clock'))
    await clock.step('+0')
    const relay = await RelayUnderAttack.start({ isSlice, env: clock.env })
    try {
      const before = await watchFor(relay, isSlice ? 0 : QUIET_S)
      const lines: string[] = []
      const problems: string[] = []
      const steps = isSlice ? STEPS.slice(0, STEPS_IN_A_SLICE) : STEPS
      const leases: Promise<string[]>[] = []
      for (const step of steps) {
        leases.push(watchLease(relay.target, step))
        await pause(BEGUN_MS)
        await clock.step(step)
        await pause(FELT_MS)
        if (!(await isStepped(relay.target, step !== '+0')))
          return skipped('this Node does not honour libfaketime')
        const during = await watchFor(relay, seconds / STEPS.length)
        lines.push(`step to ${step}:`, ...describe(before, during))
        problems.push(...noticed(before, during).map((problem) => `${step}: ${problem}`))
      }
      problems.push(...(await Promise.all(leases)).flat())
      if (!(await relay.isTheSame())) problems.push('the relay’s process died')
      problems.push(...relay.takeErrors())
      return { lines, problems }
    } finally {
      await relay.stop()
      await rm(directory, { recursive: true })
    }
  },
}

class SteppedClock {
  readonly env: Record<string, string>
  readonly #file: string

  constructor(library: string, file: string) {
    this.#file = file
    this.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: String(LOOK_S),
      // A step of the clock is one of the time of day; the monotonic clock knows none (clock_gettime(2)).
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Writes the step in one piece: the library may be reading. */
  async step(offset: string): Promise<void> {
    await writeFile(`${this.#file}.new`, `${offset}\n`)
    await rename(`${this.#file}.new`, this.#file)
  }
}

/** A lease of a few seconds, begun before a step. @returns what is wrong with how long it was there */
async function watchLease(target: Target, step: string): Promise<string[]> {
  const api = new RelayApi(target.url, target.ca, 1)
  const name = `brief-${Math.random().toString(36).slice(2, 10)}`
  const begin = performance.now()
  await api.register(newIdentity(), name, { ttl: LEASE_TTL_S })
  api.close()
  const elapsed = (): number => performance.now() - begin
  const lease = `${step}: a lease of ${LEASE_TTL_S} s`
  await pause(Math.max(0, LEASE_THERE_MS - elapsed()))
  const wasThere = await isListed(target, name)
  // an answer that a busy machine gave after the lease's time does not say when the lease went
  const wasInTime = elapsed() < LEASE_TTL_S * 1000
  await pause(Math.max(0, LEASE_TTL_S * 1000 - elapsed()))
  let isLeft = await isListed(target, name)
  for (; isLeft && elapsed() < LEASE_GONE_MS; isLeft = await isListed(target, name)) await pause(AGAIN_MS)
  return [
    ...(wasThere || !wasInTime ? [] : [`${lease} was gone after ${LEASE_THERE_MS / 1000} s`]),
    ...(isLeft ? [`${lease} was there after ${LEASE_GONE_MS / 1000} s`] : []),
  ]
}

async function isListed(target: Target, name: string): Promise<boolean> {
  const visitor = visitorOf({ url: target.url }, target)
  const text = String(await visitor.get(PATH.state))
  visitor.close()
  const { leases } = dataOf<PublicStateResponse>({ status: 200, text })
  return leases.some(({ hostname }) => hostname.startsWith(`${name}.`))
}

/** Waits until the relay's time is off, or is not. @returns whether it came to that */
async function isStepped(target: Target, shallBeOff: boolean): Promise<boolean> {
  const deadline = performance.now() + UNFELT_MS
  while ((await isOff(target)) !== shallBeOff) {
    if (performance.now() > deadline) return false
    await pause(AGAIN_MS)
  }
  return true
}

/** @returns whether the relay's time differs from that of this process (RFC 9110 §6.6.1) */
async function isOff({ url, ca, port, rootHost }: Target): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = { Host: new URL(url).host }
  get({ host: '127.0.0.1', port, servername: rootHost, ca, path: PATH.health, headers }, (response) => {
    response.resume()
    resolve(response.headers.date ?? '')
  }).on('error', reject)
  return Math.abs(Date.parse(await promise) - Date.now()) > HOUR_MS
}

function findLibrary(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketimeMT.so.1').find((file) => existsSync(file))
}

function skipped(why: string): Outcome {
  return { lines: [], problems: [], skipped: why }
}
