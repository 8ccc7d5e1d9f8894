// `svc expose --overlay` at real relays that are linked by loopback addresses: visitors come through a gateway, then another, then directly.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, get, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it as every, expect, vi } from 'vitest'
import { type OverlayMember, startOverlayRelays } from '../../../relay/test/support/overlay-relays.ts'
import { ROOT_HOST } from '../../../relay/test/support/relay.ts'
import { curl } from '../../../tools/programs/curl.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { listening, TEST_TIMEOUT_MS } from '../support/exposed.ts'
import { freePort } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const it = wholeOnly(every, 'variant')

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../../relay/test/support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})
const probes = { intervalMs: 200, failedMaxMs: 1_000, tickMs: 50, deadlineMs: 5_000 }
const limits = { discovery: { pollMs: 500 }, overlay: { probes } }
const PATIENT = { timeout: TEST_TIMEOUT_MS, interval: 100 }

let relays: OverlayMember[]
let closeRelays: () => Promise<void>
let ingress: OverlayMember
let metricsPorts: number[]
let target: Server
let home: string
let caFile: string
let targetPort: number
const running: Run[] = []

beforeAll(async () => {
  metricsPorts = await Promise.all([freePort(), freePort(), freePort()])
  const env = (at: number) => ({ METRICS_ADDR: `127.0.0.1:${metricsPorts[at]}` })
  const group = await startOverlayRelays('0.92', [ROOT_HOST, ROOT_HOST, ROOT_HOST], env, limits)
  ;({ members: relays, close: closeRelays } = group)
  ingress = relays[0]!
  home = await mkdtemp(join(tmpdir(), 'svc-overlay-site-'))
  caFile = join(home, 'ca.pem')
  await writeFile(caFile, relays.map(({ ca }) => ca).join('\n'))
  target = createHttpServer((_request, response) => response.end('from the site'))
  targetPort = await listening(target)
  await vi.waitFor(async () => expect(await reading(0, 'gateways_available')).toBe(2), PATIENT)
})
afterAll(async () => {
  for (const run of running) await run.stop()
  target?.close()
  await closeRelays?.()
  await rm(home, { recursive: true })
})

function svc(...args: string[]): Run {
  const run = runHere(home, [
    'expose',
    `${targetPort}`,
    '--json',
    '--relay',
    ingress.origin,
    '--ca',
    caFile,
    ...args,
  ])
  running.push(run)
  return run
}

/** A metric of a relay. */
async function reading(at: number, name: string): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    get({ port: metricsPorts[at], path: '/metrics', agent: false }, (response) => {
      response.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject)
    }).on('error', reject)
  })
  return Number(new RegExp(`^svc_relay_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

async function carried(): Promise<number[]> {
  return Promise.all([1, 2].map((at) => reading(at, 'gateway_sessions').catch(() => 0)))
}

async function ask(url: string): Promise<string> {
  return (await curl(caFile, '--resolve', `${new URL(url).host}:127.0.0.1`, url)).toString()
}

it('brings visitors through a gateway; when one is gone through another, and at last directly', async () => {
  const run = svc('--overlay', '--allow-local-gateways', '--name', 'over')
  const { url = '' } = await reported(run, 'online')
  expect(await ask(url)).toBe('from the site')
  const first = (await carried()).findIndex((sessions) => sessions > 0) + 1
  expect(first).toBeGreaterThan(0)
  // The relay of the lease has a carrier, which came over the overlay.
  expect(await reading(0, 'carriers')).toBe(1)
  expect(await reading(0, 'overlay_connections')).toBeGreaterThan(0)

  await relays[first]!.stop()
  await vi.waitFor(async () => expect(await ask(url)).toBe('from the site'), PATIENT)
  const second = 3 - first
  expect(await reading(second, 'gateway_sessions')).toBeGreaterThan(0)

  await relays[second]!.stop()
  await vi.waitFor(async () => expect(await ask(url)).toBe('from the site'), PATIENT)
  expect(await reading(0, 'overlay_connections')).toBe(0)
  expect(await reading(0, 'carriers')).toBe(1)
})

it('a flood of delegated capabilities gets 429 from a gateway, and disturbs no direct session', async () => {
  const { url = '' } = await reported(running[0]!, 'online')
  const forged = ['e30', Buffer.from('{"aud":"svc-overlay-reverse"}').toString('base64url'), 'AA'].join('.')
  const headers = { Connection: 'Upgrade', Upgrade: 'raw', 'X-Svc-Reverse-Capability': forged }
  const statuses: number[] = []
  for (let n = 0; n < 40; n++)
    statuses.push((await ingress.call('GET', '/sdk/connect', undefined, headers)).status)
  expect(statuses.slice(0, 16)).toEqual(Array.from({ length: 16 }, () => 403))
  expect(statuses).toContain(429)
  expect(await ask(url)).toBe('from the site')
})
