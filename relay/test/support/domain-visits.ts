// Visitors of custom domains: whose session one comes to.

import { once } from 'node:events'
import type { RegisterResponse } from '@svc/protocol'
import type { DnsServer } from '../../../tools/dns/dns-server.ts'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { UPGRADE_HEADERS } from './api-socket.ts'
import type { newAccount, TestClient } from './relay.ts'
import { nativeSession } from './session.ts'

const BINDING_BYTES = 16
/** The first byte of a TLS record of the handshake. */
const HANDSHAKE = 0x16

/** Sets the record that proves a domain. */
export function prove(dns: DnsServer, { address }: ReturnType<typeof newAccount>, domain: string): void {
  dns.records.set(`_svc.${domain} TXT`, [`svc-address=${address.toLowerCase()}`])
}

interface VisitOptions {
  ALPNProtocols?: string[]
  /** Leases to which the visitor may come in its place. */
  others?: readonly RegisterResponse[]
  /** Where the visitor comes in. @default the relay that has the sessions */
  at?: TestClient
}

/** Whether a connection with this server name comes to the site, and not to one of the others. */
export async function reaches(
  relay: TestClient,
  lease: RegisterResponse,
  domain: string,
  { others = [], at = relay, ALPNProtocols }: VisitOptions = {},
): Promise<boolean> {
  const sessions = await Promise.all(
    [lease, ...others].map((one) => nativeSession(relay, one.reverse_endpoint.capability, UPGRADE_HEADERS)),
  )
  const visitor = at.tls(domain, { ...(ALPNProtocols && { ALPNProtocols }) })
  const refused = once(visitor, 'error').then(() => -1)
  const served = sessions.map(async (session, index) => {
    const bytes = await session.read(1 + BINDING_BYTES + 1)
    return bytes[1 + BINDING_BYTES] === HANDSHAKE ? index : -1
  })
  for (const one of served) one.catch(() => {})
  const first = await Promise.race([refused, ...served])
  visitor.destroy()
  for (const session of sessions) session.abort()
  return first === 0
}

/** A visitor who came to the site by a name, and is still connected. */
export interface OpenVisit {
  /** Resolves when the relay closes the connection. */
  closed: Promise<unknown>
  isOpen: () => boolean
}

/** Connects a visitor to a session of the site. @param at where the visitor comes in. @default the relay that has the session */
export async function openVisit(
  relay: TestClient,
  lease: RegisterResponse,
  domain: string,
  at: TestClient = relay,
): Promise<OpenVisit> {
  const session = await nativeSession(relay, lease.reverse_endpoint.capability, UPGRADE_HEADERS)
  const visitor = await at.tcp()
  visitor.on('error', () => {}).resume()
  const closed = once(visitor, 'close')
  const answered = once(visitor, 'data')
  visitor.write(await captureHello(domain))
  await session.read(1 + BINDING_BYTES + 1)
  // Until it answers, the relay waits for a session that is alive.
  await session.write(Buffer.of(HANDSHAKE))
  await answered
  return { closed, isOpen: () => !visitor.closed }
}
