// The child of a crash test: changes policy and reservations for ever, and says in the file that it got as descriptor 3
// what it is about to do (`>`) and what it was promised to be kept (`<`). It waits to be killed.
// `node crash-writer.ts DIRECTORY SEED`

import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { now } from '../../src/core/clock.ts'
import { ReservationJournal } from '../../src/core/lease/reservation-journal.ts'
import { createLog } from '../../src/core/log/log.ts'
import { Policy } from '../../src/core/policy/policy.ts'
import { WriteHealth } from '../../src/core/storage/write-health.ts'
import { hostnameOf, isRelease, KEPT, KEYS, keyOf, READY } from './crash-model.ts'

const WORKERS = 8
const REPORT = 3
const LEASE_TTL_MS = 500_000
const [directory = '', seed = ''] = process.argv.slice(2)
const first = Number(seed)
const log = createLog('silent')
const state = new WriteHealth(log)
const journal = await ReservationJournal.open(directory, state, log)
const policy = await Policy.load(directory, { udp: false, tcp: false }, { health: state })
let isAnyKept = false
/** Writes synchronously, so that the file holds everything that this process knew when it died. */
const say = (text: string): number => writeSync(REPORT, `${text}\n`)

// A process that is killed writes nothing at its end: the next one finds compiled what this one has loaded.
flushCompileCache()
process.stdout.write(READY)
// A key belongs to one worker, so that its numbers only grow.
for (let worker = 0; worker < WORKERS; worker++) void work(worker)

async function work(worker: number): Promise<void> {
  for (let n = first; ; n++) {
    for (let index = worker; index < KEYS; index += WORKERS) {
      const isPolicy = index % 2 === 0
      say(`> ${index} ${n}`)
      await (isPolicy ? decide(index, n) : reserve(index, n))
      say(`< ${index} ${n}`)
      if (!isAnyKept) process.stdout.write(KEPT)
      isAnyKept = true
    }
  }
}

async function decide(index: number, n: number): Promise<void> {
  await policy.updateLease({ identity_key: keyOf(index), bps: isRelease(n) ? 0 : n })
}

async function reserve(index: number, n: number): Promise<void> {
  const key = keyOf(index)
  journal.reservations.hold(key, { hostname: hostnameOf(n), expiresAt: now() + LEASE_TTL_MS })
  if (isRelease(n)) journal.reservations.release(key)
  await journal.durable()
}
