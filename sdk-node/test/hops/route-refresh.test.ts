// A routed site brings its route again: what ends the route, and what does not.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { EXTENSIONS } from '@svc/protocol'
import type { CarrierEvents, Site, SiteCarrier } from '@svc/sdk-core'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, test as every, expect, vi } from 'vitest'
import { HopChanges } from '../../../relay/src/features/overlay/hop/hop-changes.ts'
import { HopCounts } from '../../../relay/src/features/overlay/hop/hop-counts.ts'
import {
  type OverlayMember,
  type OverlayRelays,
  startOverlayRelays,
} from '../../../relay/test/support/overlay-relays.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { publishRouted } from '../../src/hops/publish-routed.ts'
import { SiteRoute } from '../../src/hops/site-route.ts'
import { nodePlatform } from '../../src/platform.ts'

const test = wholeOnly(every, 'clock')

const PATIENT_MS = 120_000
const POLL_EVERY_MS = 50
/** Requests at once: more than the connections that a relay leads to its neighbours for one lease. */
const CROWD = 40

/** Two hostnames are brought twice, and refused for a minute then. */
const limits = { overlay: { hopChangesPerOwner: { perMinute: 1, burst: 4 } } }
/** Between two refreshes, in milliseconds: fewer than in the field. */
const REFRESH_MS = 200

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../../relay/test/support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})
let group: OverlayRelays
let first: OverlayMember
let last: OverlayMember
const refused = vi.spyOn(HopCounts.prototype, 'refused')

beforeAll(async () => {
  group = await startOverlayRelays('61.6', ['first.localhost', 'last.localhost'], {}, limits)
  ;[first, last] = group.members as [OverlayMember, OverlayMember]
  await group.known()
})

beforeEach(() => void refused.mockClear())

afterAll(() => group?.close())

async function publishFor(ttlS: number, name: string, states: string[]): Promise<Site> {
  const ca = { ca: group.ca }
  const options = {
    ...ca,
    name,
    identity: new Uint8Array(randomBytes(32)),
    fetch: () => new Response('hello'),
  }
  const times = { ttlS, refreshMs: REFRESH_MS }
  const site = await publishRouted(nodePlatform(ca), options, [first.origin, last.origin], times)
  site.addEventListener('statechange', () => states.push(site.state))
  return site
}

async function visit({ url }: Site): Promise<string> {
  const { hostname: servername, port, host: Host } = new URL(url)
  const { ca } = first
  const asked = httpsRequest({ host: '127.0.0.1', servername, port, ca, agent: false, headers: { Host } })
  asked.end()
  const [answer] = await once(asked, 'response')
  let text = ''
  for await (const chunk of answer) text += chunk
  return text
}

test('a route whose relays want it less often goes on while its end is far', async () => {
  const states: string[] = []
  const site = await publishFor(120, 'patient', states)
  try {
    await vi.waitFor(() => expect(refused).toHaveBeenCalledWith('rate_limited'), {
      timeout: PATIENT_MS,
      interval: POLL_EVERY_MS,
    })
    // The refusal has come to the site when the visitor's answer has.
    for (let count = 0; count < 5; count++) expect(await visit(site)).toBe('hello')
    expect(states).toEqual([])
    expect(site.state).toBe('online')
  } finally {
    await site.close()
  }
})

test('a route that would end before its relays take it again is made anew', async () => {
  const states: string[] = []
  const site = await publishFor(30, 'hasty', states)
  try {
    await vi.waitFor(() => expect(states).toContain('waiting'), {
      timeout: PATIENT_MS,
      interval: POLL_EVERY_MS,
    })
    expect(refused).toHaveBeenCalledWith('rate_limited')
  } finally {
    await site.close()
  }
})

test('requests of a crowd wait for each other on the way to the first relay', async () => {
  const privateKey = new Uint8Array(randomBytes(32))
  const route = new SiteRoute({
    route: [first.origin, last.origin],
    name: 'crowd',
    privateKey,
    ca: group.ca,
    isMultiplexed: true,
    visitorAddress: false,
    times: { ttlS: 120, refreshMs: REFRESH_MS },
  })
  const gone = new AbortController()
  route.platform.followPage?.({} as never, gone.signal)
  const ask = async (): Promise<number> => {
    const answer = await route.platform.fetch(`${first.origin}/sdk/domain`, {
      method: 'GET',
      headers: {},
      signal: AbortSignal.timeout(PATIENT_MS),
    })
    await answer.body?.cancel()
    return answer.status
  }
  const answers = await Promise.all(Array.from({ length: CROWD }, ask))
  expect(answers).toEqual(Array(CROWD).fill(200))
  gone.abort()
})

test('a carrier that closes late leaves the route to the one after it', async () => {
  const privateKey = new Uint8Array(randomBytes(32))
  const account = privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`)
  const { canonical_hostname: canonicalHostname } = await first.register('late', { account })
  const relays = [first.origin, last.origin]
  const route = new SiteRoute({
    route: relays,
    name: 'late',
    privateKey,
    ca: group.ca,
    isMultiplexed: true,
    visitorAddress: false,
    times: { ttlS: 120, refreshMs: REFRESH_MS },
  })
  const gone = new AbortController()
  route.platform.followPage?.({} as never, gone.signal)
  const nothing = (): void => {}
  const events: CarrierEvents = {
    capability: () => '',
    stale: nothing,
    hasRoomFor: () => true,
    serve: () => Promise.resolve(),
    traffic: nothing,
    admits: nothing,
    ended: nothing,
    debug: nothing,
  }
  const open = (): Promise<SiteCarrier> =>
    route.platform.openCarrier!(
      { url: '', isGateway: false, extensions: new Set(EXTENSIONS), hostname: '', canonicalHostname },
      { bytesIn: 0, bytesOut: 0 },
      events,
      gone.signal,
    )
  const [early, late] = [await open(), await open()]
  early.close()
  const taken = vi.spyOn(HopChanges.prototype, 'take')
  await vi.waitFor(() => expect(taken).toHaveBeenCalledTimes(2), {
    timeout: PATIENT_MS / 4,
    interval: POLL_EVERY_MS,
  })
  late.close()
  gone.abort()
})
