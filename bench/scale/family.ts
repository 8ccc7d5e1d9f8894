// The family `scale`: what a site and a visitor cost one relay process when there are 10 of them, and when there are 10,000.
// SCALE_STEPS=1000,100000 measures other steps: of 100,000 sites, 90,000 have a lease and no connection, which takes ten minutes.
import { KEEPALIVE_INTERVAL_MS } from '@svc/protocol'
import { type Entry, limited } from '../lib/entry.ts'
import { ScaledRelay } from './scaled-relay.ts'

const STEPS = '10,100,1000,10000'
/** Active leases of a relay. */
const SITES_MAX = 100_000
/** A relay process takes 16,384 connections: so many are of sites, and so many of visitors. */
const CONNECTED_MAX = 10_000
const VISITORS_MAX = 5_000
/** Sites and visitors that come before the measurement: what the first ones cause stays. */
const FIRST = 200
/** With fewer, what the process does and takes for itself is more than what is theirs. */
const EACH_FROM = 1_000
const READY = 2

/** Limits, in the units of the entries. A WebSocket may have 60 KB, a stream 12, a lease 4 (families carrier and control). */
const MAX = {
  siteMs: 5,
  siteKb: 88,
  keepaliveUs: 50,
  turnMs: 50,
  visitorMs: 1,
  visitorKb: 40,
  firstByteMs: 50,
}

export async function* scale(): AsyncGenerator<Entry> {
  const steps = (process.env.SCALE_STEPS ?? STEPS).split(',').map(Number)
  for (const sites of steps) {
    if (!(Number.isInteger(sites) && sites > 0 && sites <= SITES_MAX))
      throw new RangeError(`SCALE_STEPS are numbers from 1 to ${SITES_MAX}`)
    yield* step(sites)
  }
}

async function* step(sites: number): AsyncGenerator<Entry> {
  const connected = Math.min(sites, CONNECTED_MAX)
  const visitors = Math.min(sites, VISITORS_MAX)
  const relay = await ScaledRelay.start()
  const firstSites = { sites: FIRST, connected: FIRST, prefix: 'warm' }
  const theSites = { sites: connected, connected, prefix: 'site' }
  const warm = await relay.comes('sites-process.ts', 1, FIRST, firstSites)
  const warmVisitors = await relay.comes('visitors-process.ts', 2, FIRST, firstSites)
  const unchanged = await relay.stays(KEEPALIVE_INTERVAL_MS)
  const entry = (what: string, unit: string, ours: number, max: number): Entry =>
    limited({ name: `${sites} sites: ${what}`, unit, better: 'less' }, ours, max)

  const online = await relay.comes('sites-process.ts', 3, sites, theSites)
  yield entry('longest turn, sites come', 'ms', online.turnMs, MAX.turnMs)
  if (sites >= EACH_FROM) yield entry('one comes online', 'CPU ms', online.cpuMs / sites, MAX.siteMs)
  if (sites >= EACH_FROM) yield entry('memory of one', 'KB', online.grownKb / sites, MAX.siteKb)

  const idle = await relay.stays(KEEPALIVE_INTERVAL_MS)
  const keepaliveMs = (idle.cpuMs - unchanged.cpuMs) / (READY * connected)
  if (sites >= EACH_FROM)
    yield entry('keepalive of one stream', 'CPU µs', keepaliveMs * 1000, MAX.keepaliveUs)
  yield entry('longest turn, idle', 'ms', idle.turnMs, MAX.turnMs)

  const came = await relay.comes('visitors-process.ts', 4, visitors, theSites)
  const { times } = came.crowd
  if (sites >= EACH_FROM)
    yield entry(`one of ${visitors} visitors comes`, 'CPU ms', came.cpuMs / visitors, MAX.visitorMs)
  yield entry('first byte of a visitor', 'ms, p99', times[Math.floor(times.length * 0.99)]!, MAX.firstByteMs)
  yield entry('longest turn, visitors come', 'ms', came.turnMs, MAX.turnMs)
  if (sites >= EACH_FROM) yield entry('memory of a visitor', 'KB', came.grownKb / visitors, MAX.visitorKb)
  for (const { crowd } of [came, online, warmVisitors, warm]) await crowd.leave()
  await relay.stop()
}
