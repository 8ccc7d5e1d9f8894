// `svc expose --discover` at real relays that know each other: one ends, one bans the identity, and no other is left.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it as every, expect, vi } from 'vitest'
import { curl } from '../../../tools/programs/curl.ts'
import { startRelayGroup } from '../../../tools/relay/relay-group.ts'
import type { TestRelay } from '../../../tools/relay/test-relay.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import type { Report } from '../../src/cli/report/report.ts'
import { publish } from '../../src/index.ts'
import { TEST_TIMEOUT_MS } from '../support/exposed.ts'
import { type Run, runHere } from '../support/svc.ts'

const it = wholeOnly(every, 'variant')

vi.setConfig({ testTimeout: 2 * TEST_TIMEOUT_MS, hookTimeout: 2 * TEST_TIMEOUT_MS })

const HOSTS = ['named.localhost', 'second.localhost', 'third.localhost']
const ADMIN_TOKEN = 'a-long-random-value'
/** A site tries to come back at least every 30 s. */
const BACK = { timeout: 60_000 }

let group: TestRelay[]
let home: string
let ca: string
/** The relay that the first test ends. */
let ended: TestRelay | undefined

beforeAll(async () => {
  group = await startRelayGroup(HOSTS, { ADMIN_TOKEN })
  home = await mkdtemp(join(tmpdir(), 'svc-discovering-'))
  ca = join(home, 'all.pem')
  await writeFile(ca, await Promise.all(group.map(({ caFile }) => readFile(caFile, 'utf8'))))
  const known = async (): Promise<number> => (await admin(group[0]!, '/discovery')).relays.length
  await vi.waitFor(async () => expect(await known()).toBe(HOSTS.length), BACK)
})
afterAll(async () => {
  for (const relay of group.toReversed()) await relay.stop()
  await rm(home, { recursive: true })
})

// biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the API
async function admin({ url, caFile }: TestRelay, path: string, body?: object): Promise<any> {
  const headers = ['-H', `Authorization: Bearer ${ADMIN_TOKEN}`, '-H', 'Content-Type: application/json']
  const sent = body ? ['--data', JSON.stringify(body)] : []
  return JSON.parse(String(await curl(caFile, ...headers, ...sent, url + path))).data
}

async function ban(relay: TestRelay, is_banned: boolean): Promise<void> {
  const { leases } = await admin(relay, '/api/policy/state')
  await admin(relay, '/api/policy/leases', { identity_key: leases[0].identity_key, is_banned })
}

const reportsOf = ({ out }: Run): Report[] => out.map((line) => JSON.parse(line))
const has = (run: Run, event: string, { url }: TestRelay, from = 0): boolean =>
  reportsOf(run)
    .slice(from)
    .some((report) => report.event === event && 'relay' in report && report.relay === url)

it('a relay that ends or bans is replaced, one that was named stays, and the last one is waited for', async () => {
  const target = createServer((_request, response) => response.end('hello'))
  await once(target.listen(0, '127.0.0.1'), 'listening')
  const { port } = target.address() as AddressInfo
  const named = group[0]!
  const args = ['expose', String(port), '--name', 'demo', '--relay', named.url, '--ca', ca]
  const run = runHere(home, [...args, '--discover', '1', '--json'])
  await expect.poll(() => group.slice(1).some((relay) => has(run, 'online', relay)), BACK).toBe(true)
  const first = group.slice(1).find((relay) => has(run, 'online', relay))!
  const second = group.slice(1).find((relay) => relay !== first)!

  ended = first
  process.kill(first.pid, 'SIGTERM')
  await expect.poll(() => has(run, 'closed', first), BACK).toBe(true)
  const events = reportsOf(run).flatMap((report) =>
    'relay' in report ? [`${report.event} ${report.relay}`] : [],
  )
  expect(events.indexOf(`online ${second.url}`)).toBeLessThan(events.indexOf(`closed ${first.url}`))
  const [, , host] = reportsOf(run).flatMap((report) => (report.event === 'online' ? [report.url!] : []))
  expect(String(await curl(second.caFile, `${host}/`))).toBe('hello')

  const before = run.out.length
  await ban(second, true)
  await expect.poll(() => has(run, 'reconnecting', second, before), BACK).toBe(true)
  expect(has(run, 'closed', second)).toBe(false)
  await ban(second, false)
  await expect.poll(() => has(run, 'online', second, before), BACK).toBe(true)

  run.interrupt()
  expect(await run.ended).toBe(0)
  expect(['reconnecting', 'closed'].map((event) => has(run, event, named))).toEqual([false, true])
  target.close()
})

it.each(['native', 'websocket'] as const)(
  '`publish` is at several relays by the carrier %s',
  async (carrier) => {
    const [one, other] = group.filter((relay) => relay !== ended) as [TestRelay, TestRelay]
    const site = await publish({
      relay: one.url,
      relays: [other.url],
      ca: await readFile(ca),
      name: `several-${carrier}`,
      identity: Uint8Array.from(randomBytes(32)),
      carrier,
      fetch: () => new Response('hello'),
    })
    await expect.poll(() => site.urls).toHaveLength(2)
    for (const [at, { caFile }] of [one, other].entries())
      expect(String(await curl(caFile, `${site.urls[at]}/`))).toBe('hello')
    await site.close()
    expect(site.urls).toEqual([])
  },
)
