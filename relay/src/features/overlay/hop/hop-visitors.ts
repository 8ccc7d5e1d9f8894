// Visitors on hop routes: accepted at the first relay, forwarded between relays, and joined to the site's session at
// the last.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import {
  BINDING_BYTES,
  CLIENT_HELLO_CONNECTION_DEADLINE_MS,
  HEADER,
  HOP_RELAYS_MAX,
  HOP_UPGRADE,
  PATH,
} from '@svc/protocol'
import {
  encodeProxyHeader,
  PROXY_HEADER_MIN_BYTES,
  parseProxyHeader,
  proxyHeaderLength,
} from '@svc/protocol/proxy-protocol'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { Pipe } from '../../../core/bridge/pipe.ts'
import type { VisitorServer } from '../../../core/bridge/visitor-server.ts'
import type { Visitors } from '../../../core/bridge/visitors.ts'
import { networkOf } from '../../../core/client-address/ip-address.ts'
import type { Settings } from '../../../core/config/settings.ts'
import { RelayError } from '../../../core/errors.ts'
import { type PeekedHello, peekClientHello } from '../../../core/ingress/client-hello.ts'
import type { BindingStore } from '../../../core/keyless/bindings.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import type { FeatureRoute } from '../../../core/lease/route.ts'
import type { IdentityBandwidths } from '../../../core/policy/identity-bandwidths.ts'
import type { PolicyRules } from '../../../core/policy/policy-rules.ts'
import type { TracedAddresses } from '../../../core/reverse/pending-visitor.ts'
import { upgradeAtPeer } from '../ask-peer.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import type { OverlayLimits } from '../settings.ts'
import type { HopCounts, HopVisitorResult } from './hop-counts.ts'
import type { HopEntry, HopRoutes, NextRelay } from './hop-routes.ts'
import { Quota, Quotas } from './quota.ts'
import { digestOf } from './tokens.ts'

export interface HopVisitorsParts {
  network: OverlayNetwork
  hops: HopRoutes
  policy: Pick<PolicyRules, 'routes'>
  visitors: Visitors
  visitorServer: Pick<VisitorServer, 'serve' | 'addressesOf'>
  bindings: BindingStore
  bandwidths: IdentityBandwidths
  pipe: Pipe
  counts: HopCounts
  /** The connections that leases have open at each peer, by its identity. */
  peerQuotas: Quotas<string, Lease>
  limits: Pick<OverlayLimits, 'hopVisitors' | 'hopVisitorsPerNetwork'>
  settings: Pick<Settings, 'overlay'>
}

/** The data that one relay sends to the next about a visitor. */
interface PassedOn {
  token: string
  hostnameHash: string
  /** The binding from the first relay. */
  binding: Buffer
  /** Undefined if the site did not ask for the visitor's address, or the first relay hides it. */
  addresses: TracedAddresses | undefined
  /** Relays that the visitor has passed. */
  relays: number
}

const SWITCHING_PROTOCOLS = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${HOP_UPGRADE}\r\n\r\n`

export class HopVisitors {
  readonly #parts: HopVisitorsParts
  readonly #room: Quota<Lease>
  /** At the first relay: the networks of each lease's visitors. */
  readonly #networks: Quotas<Lease, string>

  constructor(parts: HopVisitorsParts) {
    const { hopVisitors, hopVisitorsPerNetwork } = parts.limits
    this.#parts = parts
    this.#room = new Quota(hopVisitors)
    this.#networks = new Quotas({
      max: Number.POSITIVE_INFINITY,
      perHolder: hopVisitorsPerNetwork,
      perHolderWhenHalfFull: hopVisitorsPerNetwork,
    })
  }

  /** Number of visitors being forwarded. */
  get size(): number {
    return this.#room.size
  }

  /** The route of visitors of the hostname `key`, at the first relay. */
  routeOf(key: string): FeatureRoute {
    const open = (): HopEntry | undefined => {
      const entry = this.#parts.hops.find(key)
      return entry !== undefined && this.#parts.policy.routes(entry.lease) ? entry : undefined
    }
    return {
      to: 'feature',
      isOpen: () => open() !== undefined,
      serve: async (visitor, _serverName, clientIp) => {
        const entry = open()
        if (entry?.next === undefined) return void visitor.destroy()
        await this.#take(visitor, entry, { next: entry.next, clientIp })
      },
    }
  }

  /** Accepts a visitor whom a peer forwards: `GET /sdk/hop` with an upgrade, on the overlay. @throws RelayError */
  async accept(_peer: OverlayPeer, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { entry, passed } = this.#find(request)
    if (entry.next !== undefined && this.#isFull(entry.lease, entry.next)) throw this.#refuse('full')
    socket.allowHalfOpen = true
    socket.write(SWITCHING_PROTOCOLS)
    if (head.length > 0) socket.unshift(head)
    if (entry.next === undefined) await this.#arrive(socket, entry, passed)
    else
      await this.#forward(socket, entry, { next: entry.next, passed, first: undefined, network: undefined })
  }

  /** The first relay pins the ClientHello: its binding holds for no other. */
  async #take(
    visitor: Socket,
    entry: HopEntry,
    { next, clientIp }: { next: NextRelay; clientIp: string | undefined },
  ): Promise<void> {
    const { bindings, visitorServer, settings } = this.#parts
    const network = clientIp === undefined ? undefined : networkOf(clientIp)
    const addresses = settings.overlay.hidesVisitors
      ? undefined
      : visitorServer.addressesOf(visitor, entry.lease, clientIp)
    const hello = await peek(visitor)
    if (hello === undefined) return
    if (this.#isFull(entry.lease, next) || this.#hasShare(entry.lease, network)) {
      this.#parts.counts.visitor('full')
      return fail(visitor)
    }
    const leave = network === undefined ? undefined : this.#networks.take(entry.lease, network)
    const binding = bindings.issue(entry.lease, hello.message)
    const passed = { hostnameHash: entry.hostnameHash, binding, addresses, relays: 0 }
    try {
      await this.#forward(visitor, entry, { next, passed, first: hello, network })
    } finally {
      bindings.revoke(binding)
      leave?.()
    }
  }

  /** Resolves when the visitor has left. */
  async #forward(
    visitor: Socket,
    { lease }: HopEntry,
    on: {
      next: NextRelay
      passed: Omit<PassedOn, 'token'>
      first: PeekedHello | undefined
      network: string | undefined
    },
  ): Promise<void> {
    const { visitors, bandwidths, pipe, counts, peerQuotas } = this.#parts
    const leave = visitors.enter(visitor, lease, { network: on.network })
    if (leave === undefined) return
    const release = lease.onBlock(() => visitor.destroy())
    const giveBack = [this.#room.take(lease), peerQuotas.take(on.next.identity, lease)]
    try {
      const next = await this.#dial(visitor, { ...on.passed, token: on.next.token }, on.next.identity)
      if (next === undefined) {
        counts.visitor('unreachable')
        return fail(visitor)
      }
      counts.visitor('forwarded')
      if (on.first !== undefined) next.write(on.first.received)
      await pipe(visitor, next, bandwidths.of(lease))
    } finally {
      for (const each of giveBack) each()
      release()
      leave()
    }
  }

  /** At the last relay, joins the visitor to a session of the lease, with the binding of the first. */
  async #arrive(
    visitor: Socket,
    { lease, hostnameHash }: HopEntry,
    { binding, addresses }: Omit<PassedOn, 'token'>,
  ): Promise<void> {
    const { visitorServer, counts } = this.#parts
    const hello = await peek(visitor)
    if (hello === undefined) return
    if (hello.serverName === undefined || digestOf(hello.serverName) !== hostnameHash) {
      counts.visitor('wrong_hostname')
      return fail(visitor)
    }
    counts.visitor('arrived')
    await visitorServer.serve({
      visitor,
      lease,
      hello,
      binding,
      addresses,
      arrivedAt: performance.now(),
      sessionsLost: 0,
      network: undefined,
      isLowPriority: false,
      handedOverBy: undefined,
    })
  }

  /** @returns undefined when the next relay does not accept the visitor */
  async #dial(visitor: Socket, passed: PassedOn, identity: string): Promise<Socket | undefined> {
    const { network } = this.#parts
    const peer = network.peerOf(identity)
    if (peer === undefined) return undefined
    const gone = new AbortController()
    const abort = (): void => gone.abort()
    visitor.once('close', abort)
    try {
      return await upgradeAtPeer(
        network,
        peer,
        {
          path: PATH.hop,
          upgrade: HOP_UPGRADE,
          headers: {
            [HEADER.hopToken]: passed.token,
            [HEADER.hopHostname]: passed.hostnameHash,
            [HEADER.hopBinding]: passed.binding.toString('hex'),
            ...(passed.addresses && {
              [HEADER.hopVisitor]: Buffer.from(encodeProxyHeader(passed.addresses)).toString('base64'),
            }),
            [HEADER.hopCount]: `${passed.relays + 1}`,
          },
        },
        gone.signal,
      )
    } catch {
      return undefined
    } finally {
      visitor.off('close', abort)
    }
  }

  #find({ headers }: IncomingMessage): { entry: HopEntry; passed: Omit<PassedOn, 'token'> } {
    const { hops, policy } = this.#parts
    const field = (name: string): string => `${headers[name.toLowerCase()] ?? ''}`
    const binding = Buffer.from(field(HEADER.hopBinding), 'hex')
    const relays = Number(/^[1-9]$/.exec(field(HEADER.hopCount))?.[0] ?? Number.NaN)
    const hostnameHash = field(HEADER.hopHostname)
    if (binding.length !== BINDING_BYTES || Number.isNaN(relays)) throw this.#refuse('malformed')
    if (relays >= HOP_RELAYS_MAX) throw this.#refuse('too_many_hops')
    const entry = hops.find(digestOf(field(HEADER.hopToken)))
    if (entry === undefined) throw this.#refuse('unknown_token')
    if (entry.hostnameHash !== hostnameHash) throw this.#refuse('wrong_hostname')
    if (!policy.routes(entry.lease)) throw this.#refuse('rejected')
    const addresses = this.#addressesIn(field(HEADER.hopVisitor))
    return { entry, passed: { hostnameHash, binding, addresses, relays } }
  }

  /** @param header empty when the relay before named no addresses */
  #addressesIn(header: string): TracedAddresses | undefined {
    if (header === '') return undefined
    try {
      const bytes = Buffer.from(header, 'base64')
      if (bytes.length !== PROXY_HEADER_MIN_BYTES + proxyHeaderLength(bytes))
        throw new Error('another length')
      const { traceId, ...ends } = parseProxyHeader(bytes)
      return traceId && { ...ends, traceId }
    } catch {
      throw this.#refuse('malformed')
    }
  }

  #refuse(result: keyof typeof REFUSALS): RelayError {
    this.#parts.counts.visitor(result)
    const [code, message] = REFUSALS[result]
    return new RelayError(code, message)
  }

  #isFull(lease: Lease, next: NextRelay): boolean {
    const { peerQuotas } = this.#parts
    return (
      this.#room.refusalOf(lease) !== undefined || peerQuotas.refusalOf(next.identity, lease) !== undefined
    )
  }

  #hasShare(lease: Lease, network: string | undefined): boolean {
    return network !== undefined && this.#networks.refusalOf(lease, network) !== undefined
  }
}

const REFUSALS = {
  malformed: [
    'invalid_request',
    'the visitor came without a binding or a number of relays, or with a malformed address',
  ],
  too_many_hops: ['invalid_request', `a route has at most ${HOP_RELAYS_MAX} relays`],
  unknown_token: ['unauthorized', 'the token is on no route of this relay'],
  wrong_hostname: ['unauthorized', 'the token is on a route of another hostname'],
  rejected: ['lease_rejected', 'the policy lets no visitor reach this lease'],
  full: ['feature_unavailable', 'this relay forwards the maximum number of visitors'],
} as const satisfies Partial<Record<HopVisitorResult, readonly [string, string]>>

function peek(visitor: Socket): Promise<PeekedHello | undefined> {
  const hello = peekClientHello(visitor, performance.now() + CLIENT_HELLO_CONNECTION_DEADLINE_MS)
  // A socket that was paused stays paused when it gets a listener.
  visitor.resume()
  return hello
}

/** Ends the visitor as the relay ends one who gets no session. */
function fail(visitor: Socket): void {
  visitor.end(alertRecord(ALERT.internal_error))
  visitor.destroySoon()
}
