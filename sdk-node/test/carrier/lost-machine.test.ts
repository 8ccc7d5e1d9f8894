// A machine of the relay goes away, and another one that knows the same leases takes its connections: the sites are back soon.

import { randomBytes } from 'node:crypto'
import type { Server } from 'node:https'
import { publishOn } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, it as every, expect } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { type FaultyRelay, startFaultyRelay } from '../../../tools/relay/faulty-relay.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { CARRIERS, type CarrierKind } from '../../src/carrier/kinds.ts'
import { publish, type Site } from '../../src/index.ts'
import { nodePlatform } from '../../src/platform.ts'

const it = wholeOnly(every, 'clock')

/** Milliseconds that a site waits at most before it is back, where another machine takes it at once. */
const WAITED_MAX_MS = 3_000
const SITES = 10
const DOWN_MS = 1_500

/** Behind its proxy it stands for all machines: what was cut is another machine's the next time. */
let relay: FaultyRelay
beforeAll(async () => {
  relay = await startFaultyRelay()
})
afterAll(() => relay.stop())

let sites: Site[] = []
let registrations: number
/** Milliseconds that each site has waited between attempts, by its own decision. */
let waited: number[] = []
const closeAll = (): Promise<unknown> => Promise.all(sites.splice(0).map((site) => site.close()))
afterEach(closeAll)

async function publishSome(carrier: CarrierKind, count: number): Promise<void> {
  await closeAll()
  registrations = 0
  waited = Array(count).fill(0)
  const publishOne = (_: unknown, index: number): Promise<Site> =>
    publish({
      relay: relay.url,
      ca: relay.ca,
      name: `l${randomBytes(6).toString('hex')}`,
      identity: Uint8Array.from(randomBytes(32)),
      carrier,
      fetch: () => new Response('hello'),
      debug: (event) => {
        if (event.type === 'lease' && event.change === 'registered') registrations += 1
        if (event.type === 'retry') waited[index]! += event.inMs
      },
    })
  sites = await Promise.all(Array.from({ length: count }, publishOne))
}

/** Milliseconds from a fault until all sites are online again. */
async function timeBack(fault: () => unknown): Promise<number> {
  const from = performance.now()
  const back = sites.map(
    (site) =>
      new Promise<void>((resolve) => {
        site.addEventListener('statechange', () => site.state === 'online' && resolve())
      }),
  )
  await fault()
  await Promise.all(back)
  return performance.now() - from
}

describeVariants('by the carrier %s', CARRIERS, (carrier) => {
  it('sites that are cut at once are online again after waits of less than three seconds, with the leases that they have', async () => {
    await publishSome(carrier, SITES)
    const urls = sites.map(({ url }) => url)
    await timeBack(() => relay.proxy.cut())
    expect(sites.map(({ url }) => url)).toEqual(urls)
    expect(registrations).toBe(SITES)
    expect(Math.max(...waited)).toBeLessThan(WAITED_MAX_MS)
  })

  it('sites whose connections are refused for a while are online again soon after', async () => {
    await publishSome(carrier, SITES)
    const ms = await timeBack(() => relay.proxy.refuse(DOWN_MS))
    expect(ms).toBeGreaterThan(DOWN_MS)
    expect(registrations).toBe(SITES)
  })
})

it('a visitor whose signature is cut with every kept connection is served by the next one', async () => {
  const double = await RelayDouble.start()
  const identity = Uint8Array.from(randomBytes(32))
  const platform = nodePlatform({ ca: CERTIFICATE_PEM, identity })
  const site = await publishOn(platform, {
    relay: double.url,
    name: 'demo',
    identity,
    fetch: () => new Response(),
  })
  const errors: unknown[] = []
  site.addEventListener('error', ({ error }) => errors.push(error))
  const come = async (): Promise<void> => void (await double.visit('demo.relay.localhost')).destroy()
  // so many signatures at once leave as many connections behind
  await Promise.all(Array.from({ length: 8 }, come))
  double.raw['/v1/sign'] = async ({ socket }) => {
    double.raw = {}
    ;(socket as unknown as { server: Server }).server.closeAllConnections()
  }
  const before = double.count('/v1/sign')
  await come()
  expect(double.count('/v1/sign') - before).toBe(2)
  expect(errors).toEqual([])
  await site.close()
  await double.crash()
})
