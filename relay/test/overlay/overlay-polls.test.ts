// Relays whose names lead nowhere for each other stay linked by the overlay, over which they ask each other, and are listed by nobody.

import { get } from 'node:http'
import { afterAll, beforeAll, test as every, expect, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { type OverlayMember, type OverlayRelays, startOverlayRelays } from '../support/overlay-relays.ts'
import { freePort } from '../support/relay.ts'

const test = wholeOnly(every, 'clock')

const PATIENT = { timeout: 60_000, interval: 100 }
const isAway = vi.hoisted(() => ({ value: false }))

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../support/local-names.ts')
  const lookup: typeof lookupLocal = (hostname, ...rest) =>
    lookupLocal(isAway.value ? 'nowhere.example' : hostname, ...rest)
  return { ...(await original<object>()), lookup }
})

let group: OverlayRelays
let [one, other]: OverlayMember[] = []
let metricsPort: number

beforeAll(async () => {
  metricsPort = await freePort()
  const env = (index: number): Record<string, string> =>
    index === 0 ? { METRICS_ADDR: `127.0.0.1:${metricsPort}` } : {}
  group = await startOverlayRelays('0.93', ['one.localhost', 'other.localhost'], env, {
    discovery: { pollMs: 300 },
  })
  ;[one, other] = group.members
  await group.known()
}, PATIENT.timeout)
afterAll(() => group?.close())

async function reading(name: string): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    get({ port: metricsPort, path: '/metrics', agent: false }, (response) => {
      response.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject)
    }).on('error', reject)
  })
  return Number(new RegExp(`^svc_relay_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const listed = async (): Promise<string[]> => {
  const { relays } = (await one!.call('GET', '/discovery')).json.data as unknown as {
    relays: { api_https_addr: string }[]
  }
  return relays.map(({ api_https_addr }) => api_https_addr)
}

test('a relay that answers over the overlay alone is a peer, and is not listed', async () => {
  expect(await reading('overlay_peers')).toBe(1)
  isAway.value = true
  await vi.waitFor(async () => expect(await listed()).toEqual([one!.origin]), PATIENT)
  expect(await reading('overlay_peers')).toBe(1)
  isAway.value = false
  await vi.waitFor(async () => expect(await listed()).toContain(other!.origin), PATIENT)
})
