// A site takes what it does not know for what a newer relay sends, and goes on as if it were not there.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { type Answer, RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { publish, type Site } from '../../src/index.ts'

const NEW = { unknown_extension: { of: ['a', 'newer', 'relay'] } }

let relay: RelayDouble
let site: Site
beforeAll(async () => {
  relay = await RelayDouble.start()
  relay.overrides['/sdk/domain'] = (): Answer => [
    200,
    { ok: true, data: { protocol_version: '10', extensions: ['unknown'], ...NEW }, ...NEW },
  ]
  relay.fields = NEW
  const identity = Uint8Array.from(randomBytes(32))
  const options = { name: 'demo', identity, certificate: 'shared', carrier: 'websocket' } as const
  site = await publish({
    relay: relay.url,
    ca: CERTIFICATE_PEM,
    ...options,
    fetch: () => new Response('hello'),
  })
})
afterAll(async () => {
  await site.close()
  await relay.crash()
})

/** A visitor's answer, over a ready session. */
async function visit(): Promise<string> {
  const socket = await relay.visit('demo.relay.localhost')
  socket.end('GET / HTTP/1.1\r\nHost: demo.relay.localhost\r\nConnection: close\r\n\r\n')
  return String(Buffer.concat(await socket.toArray()))
}

describe('a site ignores (protocol §1.1.4)', () => {
  it('unknown fields of JSON, and unknown words among the extensions', async () => {
    expect(relay.count('/sdk/register')).toBe(1)
    expect(await visit()).toMatch(/hello$/)
  })

  it('unknown flags of yamux', async () => {
    // A ping with SYN, with three flags that nobody knows.
    relay.sockets[0]!.send(Buffer.from('000200710000000001020304', 'hex'))
    const answered = new Promise<void>((resolve) =>
      relay.sockets[0]!.on('message', (bytes) => {
        if (`${(bytes as Buffer).toString('hex')}`.includes('000200020000000001020304')) resolve()
      }),
    )
    await answered
    expect(await visit()).toMatch(/hello$/)
  })

  it('an unknown close code: it connects again, with the same lease', async () => {
    relay.endLease(4998)
    expect(await visit()).toMatch(/hello$/)
    expect(relay.count('/sdk/register')).toBe(1)
  })
})
