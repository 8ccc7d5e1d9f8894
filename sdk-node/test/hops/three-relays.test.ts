// A site on a route over three real relays: what passes, and what happens when one of them goes.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { siteQuestionText } from '@svc/protocol'
import type { FetchHandler, Site } from '@svc/sdk-core'
import { afterAll, beforeAll, test as every, expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import {
  type OverlayMember,
  type OverlayRelays,
  startOverlayRelays,
} from '../../../relay/test/support/overlay-relays.ts'
import { startConnectProxy } from '../../../tools/network/connect-proxy.ts'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { expose } from '../../src/expose/expose.ts'
import { publish } from '../../src/publish.ts'

const test = wholeOnly(every, 'depth')

const PATIENT_MS = atDepth(900_000, 120_000)
const MIB = 1024 * 1024
/** Visitors at once: more than the connections that a relay leads to its neighbours for one lease. */
const CROWD = 40
const LARGE_MIB = atDepth(1024, 64)

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../../relay/test/support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

let group: OverlayRelays
let [entry, middle, exit]: OverlayMember[] = []
let site: Site
const piece = randomBytes(MIB)

const handler: FetchHandler = async (request, info) => {
  const { pathname } = new URL(request.url)
  if (pathname === '/socket') {
    const { socket, response } = info.upgrade(request)
    socket.onmessage = ({ data }) => socket.send(data)
    return response
  }
  if (pathname === '/sum') {
    const sum = createHash('sha256')
    for await (const chunk of request.body!) sum.update(chunk)
    return new Response(sum.digest('hex'))
  }
  if (pathname === '/large') {
    let left = LARGE_MIB
    const pull = (controller: ReadableStreamDefaultController): void => {
      if (left-- > 0) controller.enqueue(new Uint8Array(piece))
      else controller.close()
    }
    return new Response(new ReadableStream({ pull }))
  }
  return new Response(`hello ${pathname}`)
}

beforeAll(async () => {
  group = await startOverlayRelays('61.1', ['entry.localhost', 'middle.localhost', 'exit.localhost'])
  ;[entry, middle, exit] = group.members
  await group.known()
  site = await publish({
    name: 'demo',
    route: [entry!.origin, middle!.origin, exit!.origin],
    ca: group.ca,
    identity: new Uint8Array(randomBytes(32)),
    fetch: handler,
    listed: true,
  })
}, PATIENT_MS)

afterAll(async () => {
  await site?.close()
  await group?.close()
})

async function ask(url: string, body?: Buffer): Promise<IncomingMessage> {
  const { hostname: servername, port, pathname: path } = new URL(url)
  const { ca } = entry!
  const method = body ? 'POST' : 'GET'
  const headers = { Host: `${servername}:${port}` }
  const asked = httpsRequest({ host: '127.0.0.1', servername, port, path, ca, agent: false, method, headers })
  asked.end(body)
  const [answer] = await once(asked, 'response')
  return answer
}

async function textOf(url: string, body?: Buffer): Promise<string> {
  let text = ''
  for await (const chunk of await ask(url, body)) text += chunk
  return text
}

/** Resolves with what visitors see as soon as the site answers again. */
async function back(): Promise<void> {
  const look = async (): Promise<void> => {
    expect(await textOf(`${site.url}/again`)).toBe('hello /again')
    expect(site.state).toBe('online')
  }
  await vi.waitFor(look, { timeout: PATIENT_MS, interval: 200 })
}

test('visitors of the first relay reach the site, at both hostnames (protocol §18.3.3)', async () => {
  expect(site.url).toBe(`https://demo.${entry!.host}:${entry!.port}`)
  for (const url of [site.url, site.canonicalUrl]) expect(await textOf(`${url}/there`)).toBe('hello /there')
})

test('a crowd of new visitors reaches the site', { timeout: PATIENT_MS }, async () => {
  const answers = await Promise.all(Array.from({ length: CROWD }, () => textOf(`${site.url}/crowd`)))
  expect(answers).toEqual(Array(CROWD).fill('hello /crowd'))
})

test('the other relays do not list the site', async () => {
  for (const { call } of [middle!, exit!])
    expect((await call('GET', '/api/state')).text).not.toContain('demo')
})

test('the first relay says that it has the site, and leads visitors of `/go/` there', async () => {
  const label = new URL(site.canonicalUrl).hostname.split('.')[0]!
  const question = createHash('sha256').update(siteQuestionText(label)).digest('hex')
  const asked = async ({ call }: OverlayMember) =>
    (await call('GET', `/discovery/site?site=${question}`)).json.data
  expect(await asked(entry!)).toMatchObject({ here: true })
  for (const member of [middle!, exit!]) expect(await asked(member)).toEqual({ here: false })
  expect((await entry!.call('GET', `/go/${label}/page`)).headers.location).toBe(`${site.canonicalUrl}/page`)
  for (const { call } of [middle!, exit!])
    await expect
      .poll(async () => (await call('GET', `/go/${label}/page`)).text)
      .toContain(`href="${site.canonicalUrl}/page"`)
})

test('a WebSocket passes', async () => {
  const { hostname, port } = new URL(site.url)
  const options: ConnectionOptions = { ca: entry!.ca, servername: hostname }
  const headers = { Host: `${hostname}:${port}` }
  const socket = new WebSocket(`wss://127.0.0.1:${port}/socket`, [], { ...options, headers })
  await once(socket, 'open')
  for (const text of ['one', 'x'.repeat(100_000)]) {
    socket.send(text)
    const [data] = await once(socket, 'message')
    expect(`${data}` === text).toBe(true)
  }
  socket.close()
  await once(socket, 'close')
})

test(`${LARGE_MIB} MiB pass as they are, and a body of 8 MiB the other way`, {
  timeout: PATIENT_MS,
}, async () => {
  const [expected, got] = [createHash('sha256'), createHash('sha256')]
  for (let count = 0; count < LARGE_MIB; count++) expected.update(piece)
  for await (const chunk of await ask(`${site.url}/large`)) got.update(chunk)
  expect(got.digest('hex')).toBe(expected.digest('hex'))
  const body = Buffer.alloc(8 * MIB, piece)
  expect(await textOf(`${site.url}/sum`, body)).toBe(createHash('sha256').update(body).digest('hex'))
})

test('the self-probe sees nobody who ends TLS on the way through all of them', {
  timeout: PATIENT_MS,
}, async () => {
  const verdicts: string[] = []
  const probed = await expose({
    name: 'probed',
    relay: entry!.origin,
    via: [middle!.origin, exit!.origin],
    ca: group.ca,
    identity: new Uint8Array(randomBytes(32)),
    fetch: handler,
    onProbe: ({ verdict }) => verdicts.push(verdict),
  })
  try {
    // Visitors start probes.
    const look = async (): Promise<void> => {
      await textOf(`${probed.sites[0]!.url}/visited`)
      expect(verdicts).toEqual(['not_seen_from_here'])
    }
    await vi.waitFor(look, { timeout: PATIENT_MS, interval: 100 })
  } finally {
    await probed.close()
  }
})

test('a proxy leads to the relay that the site connects to, and sees no other', {
  timeout: PATIENT_MS,
}, async () => {
  const proxy = await startConnectProxy(Number(exit!.port))
  try {
    const behind = await publish({
      name: 'behind-a-proxy',
      route: [entry!.origin, middle!.origin, exit!.origin],
      ca: group.ca,
      proxy: proxy.url,
      identity: new Uint8Array(randomBytes(32)),
      fetch: handler,
    })
    try {
      expect(await textOf(`${behind.url}/there`)).toBe('hello /there')
      expect(new Set(proxy.asked)).toEqual(new Set([`${exit!.host}:${exit!.port}`]))
    } finally {
      await behind.close()
    }
  } finally {
    proxy.close()
  }
})

test.each([
  ['last', () => exit!],
  ['middle', () => middle!],
  ['first', () => entry!],
])(
  'the %s relay goes, and visitors reach the site again when it is back',
  { timeout: PATIENT_MS },
  async (_, relay) => {
    await relay().stop()
    await vi.waitFor(() => expect(site.state).toBe('reconnecting'), { timeout: PATIENT_MS, interval: 50 })
    await relay().start()
    await back()
  },
)
