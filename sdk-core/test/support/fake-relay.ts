// A control plane on loopback that answers what a test tells it to, reached through an injected `fetch`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RegisterChallengeRequest, registrationPurpose, siweMessage } from '@svc/protocol'
import { RelayClient } from '../../src/control/relay-client.ts'

export const RELAY = new URL('https://relay.example:4433')
export const CHALLENGE_ID = 'rch_0123456789abcdef'

interface Call {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

export type Reply = (call: Call, response: ServerResponse) => unknown

/** Path → what to answer: a returned object is sent as an envelope's data. */
export interface FakeRelay {
  client: RelayClient
  calls: Call[]
  replies: Record<string, Reply>
  close(): Promise<void>
}

export async function startFakeRelay(replies: Record<string, Reply>): Promise<FakeRelay> {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const path = request.url!
    const call = { method: request.method!, path, headers: request.headers, body: text && JSON.parse(text) }
    calls.push(call)
    const data = replies[path]?.(call, response)
    if (data !== undefined) envelope(response, 200, { ok: true, data })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = new RelayClient(RELAY, (url, init) =>
    fetch(url.replace(RELAY.origin, `http://127.0.0.1:${port}`), init),
  )
  return {
    client,
    calls,
    replies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function envelope(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

export function failure(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return (_, response) => {
    response
      .writeHead(status, headers)
      .end(JSON.stringify({ ok: false, error: { code, message: 'told to' } }))
  }
}

/** A well-behaved relay; tests replace what they attack. */
export function goodReplies(): Record<string, Reply> {
  return {
    '/sdk/domain': () => ({ protocol_version: '10', release_version: '0.1.0' }),
    '/sdk/register/challenge': ({ body }) => ({
      challenge_id: CHALLENGE_ID,
      expires_at: '2026-01-02T03:06:05Z',
      siwe_message: goodMessage((body as unknown as RegisterChallengeRequest).identity.address),
    }),
    '/sdk/register': () => ({}),
    '/sdk/renew': () => grant('2'),
    '/sdk/unregister': () => ({}),
  }
}

export function goodMessage(address: string): string {
  return siweMessage({
    ...registrationPurpose(RELAY.host),
    address,
    nonce: 'kEWepMt9knR6lWJ6A',
    issuedAt: '2026-01-02T03:04:05.678Z',
    expirationTime: '2026-01-02T03:06:05.678Z',
    requestId: CHALLENGE_ID,
  })
}

export function grant(serial: string, expiresAt = '2026-01-02T03:06:06Z') {
  return {
    expires_at: expiresAt,
    access_token: `access.${serial}`,
    reverse_endpoint: {
      url: 'https://relay.example:4433/sdk/connect',
      capability: `capability.${serial}`,
      expires_at: expiresAt,
      overlay: false,
    },
  }
}

export function registration(address: string) {
  return {
    identity: { name: 'demo', address },
    hostname: 'demo.relay.example',
    canonical_hostname: `demo-${address.slice(2).toLowerCase()}.relay.example`,
    ...grant('1'),
    udp_enabled: false,
    tcp_enabled: false,
  }
}
