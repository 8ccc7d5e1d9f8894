// A relay of two processes (SVC_WORKERS), with real sites and visitors: it is one relay, whichever process they come to.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, it as every, expect } from 'vitest'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { CARRIERS } from '../../src/carrier/kinds.ts'
import { type NodePublishOptions, publish, type Site } from '../../src/index.ts'
import { sha256Of, text, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

const it = wholeOnly(every, 'variant')

/** Visitors come in this many turns, and this many in each. */
const TURNS: number = atDepth(5, 2)
const AT_ONCE = 20

interface LogLine {
  msg: string
  /** The process that wrote it; the first one has none. */
  worker?: number
}

let relay: TestRelay
let lines: LogLine[] = []
const startTwo = (): Promise<TestRelay> =>
  startTestRelay({ SVC_WORKERS: '2', LOG_LEVEL: 'debug' }, (line) => lines.push(JSON.parse(line)))
beforeAll(async () => {
  relay = await startTwo()
})
afterAll(() => relay.close())

const sites: Site[] = []
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.close()))
  lines = []
})

async function publishAt(at: TestRelay, options: Partial<NodePublishOptions> = {}): Promise<Site> {
  const site = await publish({
    relay: at.origin,
    ca: at.ca,
    name: `w${randomBytes(6).toString('hex')}`,
    identity: Uint8Array.from(randomBytes(32)),
    fetch: () => new Response('hello'),
    ...options,
  })
  sites.push(site)
  return site
}

/** @returns the number of visitors that each process took in, those of a handover included */
const tookIn = (): number[] => {
  const came = lines.filter(({ msg }) => msg === 'visitor came')
  return [
    came.filter(({ worker }) => worker === undefined).length,
    came.filter(({ worker }) => worker === 1).length,
  ]
}

async function load(at: TestRelay): Promise<Record<string, number>> {
  return (await at.call('/api/admin/load')).data!
}

async function workerOf(at: TestRelay): Promise<number> {
  return Number((await readFile(`/proc/${at.pid()}/task/${at.pid()}/children`, 'utf8')).trim())
}

/** A site whose answers go on until `finish` is called, and visitors who have begun to read them. */
async function transfers(at: TestRelay, count: number, options: Partial<NodePublishOptions>) {
  const finished = Promise.withResolvers<void>()
  const body = (): ReadableStream =>
    new ReadableStream({
      start: async (controller) => {
        controller.enqueue(new Uint8Array(1000))
        await finished.promise
        controller.enqueue(new Uint8Array(1000))
        controller.close()
      },
    })
  const site = await publishAt(at, { fetch: () => new Response(body()), ...options })
  const visitors: IncomingMessage[] = await Promise.all(
    Array.from({ length: count }, () => visit(at, site.url)),
  )
  await Promise.all(visitors.map((visitor) => once(visitor, 'readable')))
  return { site, visitors, finish: finished.resolve }
}

describeVariants('by the carrier %s', CARRIERS, (carrier) => {
  it('the site learns the address of each visitor, whichever process accepted the connection', async () => {
    const site = await publishAt(relay, {
      carrier,
      visitorAddress: true,
      fetch: (_request, info) => new Response(`${info.remote?.address} ${info.remote?.port}`),
    })
    const addresses = Array.from({ length: 2 * AT_ONCE }, (_, at) => `127.0.1.${at + 1}`)
    await Promise.all(
      addresses.map(async (localAddress) => {
        const response = await visit(relay, site.url, '/', { localAddress })
        const { remotePort, localPort } = response.socket
        expect([await text(response), remotePort]).toEqual([`${localAddress} ${localPort}`, relay.port])
      }),
    )
    expect(tookIn()).toEqual([expect.any(Number), expect.any(Number)])
    for (const count of tookIn()) expect(count).toBeGreaterThan(0)
  })

  it(`${TURNS * AT_ONCE} visitors come at either process, and every byte of theirs is right`, async () => {
    const content = randomBytes(50_000)
    const site = await publishAt(relay, {
      carrier,
      fetch: async (request) => {
        const sent = createHash('sha256')
          .update(new Uint8Array(await request.arrayBuffer()))
          .digest('hex')
        return new Response(content, { headers: { 'X-Got': sent } })
      },
    })
    const before = await load(relay)
    const came = async (): Promise<void> => {
      const body = randomBytes(30_000)
      const response = await visit(relay, site.url, '/', { method: 'POST', body })
      expect(response.headers['x-got']).toBe(createHash('sha256').update(body).digest('hex'))
      const received = await sha256Of(response)
      expect(received).toEqual({ bytes: 50_000, sha256: createHash('sha256').update(content).digest('hex') })
    }
    for (let turn = 0; turn < TURNS; turn++) await Promise.all(Array.from({ length: AT_ONCE }, came))
    const [first, second] = tookIn()
    expect(first).toBeGreaterThan(AT_ONCE / 4)
    expect(second).toBeGreaterThan(AT_ONCE / 4)
    // Each visitor is counted once.
    await expect.poll(async () => (await load(relay)).visitor_connections).toBe(0)
    const sent = async (): Promise<number> => {
      const { visitor_sent_bytes, visitor_received_bytes } = await load(relay)
      return (
        visitor_sent_bytes! +
        visitor_received_bytes! -
        before.visitor_sent_bytes! -
        before.visitor_received_bytes!
      )
    }
    const visitors = TURNS * AT_ONCE
    await expect.poll(sent).toBeGreaterThan(visitors * 80_000)
    expect(await sent()).toBeLessThan(visitors * 90_000)
  })
})

it('a ban cuts visitors in both processes, and lets nobody in at either', async () => {
  const { site, visitors } = await transfers(relay, 16, { carrier: 'native-sessions' })
  expect(Math.min(...tookIn())).toBeGreaterThan(0)
  const { leases } = (await relay.call('/api/policy/state')).data as never as {
    leases: { hostname: string; identity_key: string }[]
  }
  const { identity_key } = leases.find(({ hostname }) => hostname === new URL(site.url).hostname)!
  const cut = visitors.map((visitor) => new Promise((resolve) => visitor.on('error', resolve)))
  await relay.call('/api/policy/leases', { identity_key, is_banned: true })
  await Promise.all(cut)
  expect(visitors.filter(({ complete }) => complete)).toEqual([])
  const later = await Promise.allSettled(Array.from({ length: 16 }, () => visit(relay, site.url)))
  expect(later.filter(({ status }) => status === 'fulfilled')).toEqual([])
})

describe.each(CARRIERS)('a worker that dies under a site with the carrier %s', (carrier) => {
  it('costs its own visitors at most; the relay goes on, the site is whole again, and another worker is there', async () => {
    const site = await publishAt(relay, { carrier })
    await text(await visit(relay, site.url))
    const worker = await workerOf(relay)
    process.kill(worker, 'SIGKILL')
    await expect.poll(() => lines.some(({ msg }) => msg === 'worker listening')).toBe(true)
    expect(await workerOf(relay)).not.toBe(worker)
    await expect
      .poll(async () => {
        const visits = await Promise.allSettled(
          Array.from({ length: 20 }, async () => text(await visit(relay, site.url))),
        )
        return visits.filter((one) => one.status === 'fulfilled' && one.value === 'hello').length
      })
      .toBe(20)
    expect(Math.min(...tookIn())).toBeGreaterThan(0)
    await expect.poll(async () => (await load(relay)).visitor_connections).toBe(0)
    await site.close()
    await expect.poll(async () => (await load(relay)).carriers).toBe(0)
  })
})

it('a worker’s arguments and environment hold no setting, and so no secret', async () => {
  const worker = await workerOf(relay)
  const shown = await Promise.all(
    ['cmdline', 'environ'].map((name) => readFile(`/proc/${worker}/${name}`, 'utf8')),
  )
  expect(shown.join('\0')).toContain('workers/worker-main.ts')
  expect(shown.join('\0')).not.toMatch(/ADMIN_TOKEN|IDENTITY_PATH|SVC_/)
})

// The last: it ends the relay of all.
describe('the end', () => {
  it('visitors of both processes finish, then all processes end', async () => {
    const { visitors, finish } = await transfers(relay, 16, { carrier: 'native-sessions' })
    expect(Math.min(...tookIn())).toBeGreaterThan(0)
    const worker = await workerOf(relay)
    process.kill(relay.pid(), 'SIGTERM')
    await expect.poll(() => lines.some(({ msg }) => msg === 'draining')).toBe(true)
    await expect(visit(relay, relay.origin)).rejects.toThrow()
    finish()
    const received = await Promise.all(visitors.map((visitor) => sha256Of(visitor)))
    expect(received.map(({ bytes }) => bytes)).toEqual(Array(16).fill(2000))
    await expect.poll(() => lines.some(({ msg }) => msg === 'closed')).toBe(true)
    expect(isAlive(worker)).toBe(false)
    expect(lines.some(({ msg }) => msg === 'the drain time is over; the relay closes visitors')).toBe(false)
  })

  it('of a primary process that is killed is the end of the others', async () => {
    await relay.start()
    const worker = await workerOf(relay)
    await relay.kill()
    await expect.poll(() => isAlive(worker)).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
