// The visitor's address on a route over two real relays: the first one tells it to a site that asks, or its operator keeps it back.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  type OverlayMember,
  type OverlayRelays,
  startOverlayRelays,
} from '../../../relay/test/support/overlay-relays.ts'
import { expose } from '../../src/expose/expose.ts'
import { publish } from '../../src/publish.ts'

const PATIENT_MS = 120_000
const VISITOR = '127.0.0.45'

vi.mock('node:dns', async (original) => {
  const { lookupLocal } = await import('../../../relay/test/support/local-names.ts')
  return { ...(await original<object>()), lookup: lookupLocal }
})

let group: OverlayRelays
let [telling, hiding, exit]: OverlayMember[] = []

beforeAll(async () => {
  const hosts = ['telling.localhost', 'hiding.localhost', 'exit.localhost']
  group = await startOverlayRelays('61.7', hosts, (index) =>
    index === 1 ? { HOP_HIDE_VISITORS: 'true' } : ({} as Record<string, string>),
  )
  ;[telling, hiding, exit] = group.members
  await group.known()
}, PATIENT_MS)
afterAll(() => group?.close())

/** @returns what the site of this URL says about its visitor */
async function visit(entry: OverlayMember, url: string): Promise<unknown> {
  const { hostname: servername, port } = new URL(url)
  const headers = { Host: `${servername}:${port}` }
  const options = {
    host: '127.0.0.1',
    localAddress: VISITOR,
    servername,
    port,
    ca: entry.ca,
    agent: false,
    headers,
  }
  const asked = httpsRequest(options)
  asked.end()
  const [answer] = await once(asked, 'response')
  return JSON.parse(String(Buffer.concat(await answer.toArray())))
}

const identity = () => new Uint8Array(randomBytes(32))
const fetch: Parameters<typeof publish>[0]['fetch'] = (_request, info) => Response.json(info.remote ?? null)

test('protocol §18.3.6: the first relay tells it, unless its operator keeps it back', {
  timeout: PATIENT_MS,
}, async () => {
  for (const [entry, remote] of [
    [
      telling!,
      { address: VISITOR, port: expect.any(Number), reportedBy: 'relay', traceId: expect.any(String) },
    ],
    [hiding!, null],
  ] as const) {
    const route = [entry.origin, exit!.origin]
    const site = await publish({
      name: entry.host.split('.')[0],
      route,
      ca: group.ca,
      identity: identity(),
      fetch,
      visitorAddress: true,
    })
    expect(await visit(entry, site.url)).toEqual(remote)
    await site.close()
  }
})

test('expose does not ask for it on a route unless told to', { timeout: PATIENT_MS }, async () => {
  for (const [visitorAddress, remote] of [
    [undefined, null],
    [true, expect.objectContaining({ address: VISITOR })],
  ] as const) {
    const options = { relay: telling!.origin, via: [exit!.origin], ca: group.ca, identity: identity(), fetch }
    const { sites, close } = await expose({ ...options, name: `exposed-${visitorAddress}`, visitorAddress })
    expect(await visit(telling!, sites[0]!.url)).toEqual(remote)
    await close()
  }
})
