// The domains of a site without a relay: a TCP server hands each connection to them, as a relay would, and TLS ends in the engine.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { parseClientHello } from '@svc/tls/messages'
import { Agent, fetch as send } from 'undici'
import type { AcmeFetch } from '../../src/acme/client.ts'
import type { RelayClient } from '../../src/control/relay-client.ts'
import { AcmeAuthority } from '../../src/domains/authority.ts'
import type { SiteDomain } from '../../src/domains/options.ts'
import type { AskCaa } from '../../src/domains/protection.ts'
import { SiteDomains } from '../../src/domains/site-domains.ts'
import type { SvcError } from '../../src/errors.ts'
import { TlsStream } from '../../src/tenant/tls-stream.ts'
import { type MemoryStore, memoryStore } from './domain-store.ts'
import { SocketStream } from './socket-stream.ts'

export interface DomainSite {
  domains: SiteDomains
  errors: SvcError[]
  /** Says that the relay leads the domains to the site, at the time of the clock. */
  granted(state?: string): void
  /** Resolves when the list fits. */
  until(fits: (domain: SiteDomain) => boolean): Promise<SiteDomain>
  stop(): void
}

export interface DomainSiteOptions {
  names: readonly string[]
  directory: string
  fetch: AcmeFetch
  store?: MemoryStore
  askCaa?: AskCaa
  externalAccountBinding?: { keyId: string; hmacKey: string }
  /** The relay's clock. */
  now?: () => number
}

/** A fetch that trusts the authority of a test. */
export function fetchTrusting(ca: string): AcmeFetch {
  const dispatcher = new Agent({ connect: { ca } })
  return (url, init) => send(url, { ...init, dispatcher } as never) as unknown as Promise<Response>
}

export function domainSite(options: DomainSiteOptions): DomainSite {
  const { names, directory, fetch, store = memoryStore(), askCaa, externalAccountBinding } = options
  const now = options.now ?? Date.now
  const errors: SvcError[] = []
  const waiting = new Set<() => void>()
  const terms = { email: 'owner@example.org', externalAccountBinding }
  const domains = new SiteDomains({
    names,
    brought: new Map(),
    ordered: { authority: new AcmeAuthority(store, directory, terms, fetch), store },
    askCaa,
    crypto: undefined,
    changed: () => {
      for (const look of waiting) look()
    },
    onError: (error) => errors.push(error),
  })
  const client = {
    origin: 'https://relay.test',
    clock: {
      get now() {
        return now()
      },
    },
    call: () => new Promise(() => {}),
  } as unknown as RelayClient
  const granted = (state = 'active'): void => {
    const lease = {
      accessToken: 'token',
      extensions: new Set(['custom_domains']),
      domains: names.map((domain) => ({ domain, state })),
    }
    domains.granted(client, lease)
  }
  const until = (fits: (domain: SiteDomain) => boolean): Promise<SiteDomain> =>
    new Promise((resolve) => {
      const look = (): void => {
        const [first] = domains.list(true)
        if (!fits(first!)) return
        waiting.delete(look)
        resolve(first!)
      }
      waiting.add(look)
      look()
    })
  return { domains, errors, granted, until, stop: () => domains.stop() }
}

/** Listens for visitors of a site. @param port 0 for any */
export async function listenFor(
  site: () => DomainSite | undefined,
  port: number,
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    socket.on('error', () => {})
    try {
      const greeted = await site()!.domains.greet(new SocketStream(socket), parseClientHello, TlsStream)
      const { stream, certificate } = greeted
      if (!certificate) return void socket.destroySoon()
      const { chain, algorithm, own } = certificate
      const tls = new TlsStream(stream, {
        certificateChain: chain,
        algorithm,
        sign: own.sign,
        alpn: ['http/1.1'],
      })
      await tls.secure
      await tls.write(new TextEncoder().encode('hello'))
      await tls.end()
    } catch {
      socket.destroy()
    }
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}

/** What a visitor sees of a domain. */
export interface Seen {
  serial: string
  names: string | undefined
  alpn: string | false | null
}

/** Visits a domain. Rejects when the handshake fails. */
export async function visit(
  port: number,
  servername: string,
  options: ConnectionOptions = {},
): Promise<Seen> {
  const socket = connect({ host: '127.0.0.1', port, servername, ALPNProtocols: ['http/1.1'], ...options })
  try {
    return await new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('secureConnect', () => {
        const { serialNumber: serial, subjectAltName: names } = socket.getPeerX509Certificate()!
        resolve({ serial, names, alpn: socket.alpnProtocol })
      })
    })
  } finally {
    socket.destroy()
  }
}
