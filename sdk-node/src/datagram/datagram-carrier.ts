// The datagram carrier: one tunnel at a time to the relay's UDP port, and a flow to the local service for each visitor.

import type { lookup as resolve } from 'node:dns'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { forATurn } from '@svc/node-kit/pauses'
import { DatagramQueue, decodeDatagram, encodeDatagram } from '@svc/protocol'
import {
  abortError,
  asSvcError,
  Backoff,
  type DatagramCarrier,
  type DatagramEvents,
  type DatagramStats,
  type OpenDatagrams,
  SvcError,
  type TunnelAddress,
  type TunnelLease,
} from '@svc/sdk-core'
import { localhostLookup } from '../net/localhost-lookup.ts'
import type { TcpTarget } from '../target/target-address.ts'
import { unreachable } from '../target/tcp-target.ts'
import { FlowAddresses } from './flow-addresses.ts'
import { DELIVERY_PORTION } from './in-flight-counter.ts'
import { type LocalAddress, LocalFlows, type UdpFlow } from './local-flows.ts'
import { monotonic } from './monotonic.ts'
import type { DialQuic } from './quic-in-worker.ts'
import { type Heartbeat, openTunnel, type Tunnel } from './tunnel.ts'

const HTTPS_PORT = 443

/** The relay no longer accepts the token: a renewal shows whether the lease still exists. */
const STALE: ReadonlySet<string> = new Set(['unauthorized', 'lease_not_found'])

export interface DatagramOptions {
  /** PEM of the CA to trust for the relay instead of the system's CAs. */
  ca: string | Buffer | undefined
  /** Called with the error of a local service that does not answer. */
  onError: (error: SvcError) => void
  /** Called with each new flow. */
  onFlow?: ((flow: UdpFlow) => void) | undefined
  /** Whether the site asked for its visitors' addresses. */
  visitorAddress?: boolean | undefined
  /**
   * The intervals of the heartbeat.
   * @default the intervals of the protocol
   */
  pulse?: Heartbeat | undefined
  /**
   * Opens the QUIC connection.
   * @default the native library, or the WebAssembly one if there is none
   */
  dial?: DialQuic | undefined
}

export function datagramCarrier(target: TcpTarget, options: DatagramOptions): OpenDatagrams {
  return async (relay, events, signal) => {
    const [local] = await addressesOf(target.host).catch((cause) => {
      throw unreachable(target, cause)
    })
    const address = { ...local!, port: target.port }
    const datagrams = new Datagrams(relay, address, { ...options, target }, events)
    try {
      await datagrams.dial(signal)
      return datagrams
    } catch (error) {
      datagrams.close()
      throw error
    }
  }
}

class Datagrams implements DatagramCarrier {
  readonly #relay: URL
  readonly #options: DatagramOptions
  readonly #events: DatagramEvents
  readonly #flows: LocalFlows
  readonly #addresses: FlowAddresses
  readonly #inbox: DatagramQueue<Uint8Array>
  readonly #backoff = new Backoff()
  readonly #life = new AbortController()
  readonly #dropped: Record<string, number> = {}
  #tunnel: Tunnel | undefined
  /** The answer to the registration whose flows are open. */
  #registration: object | undefined
  /** True when somebody wants addresses and the relay sends them. */
  #awaitsAddresses = false
  #received = 0
  #sent = 0
  #tunnels = 0
  /** The number of failed attempts since the last tunnel. */
  #failures = 0

  constructor(
    relay: URL,
    local: LocalAddress,
    options: DatagramOptions & { target: TcpTarget },
    events: DatagramEvents,
  ) {
    this.#relay = relay
    this.#options = options
    this.#events = events
    this.#inbox = new DatagramQueue<Uint8Array>({
      pass: (datagram) => this.#deliver(datagram),
      tooOld: () => this.#drop('receive_too_old'),
      batchSize: DELIVERY_PORTION,
      pause: forATurn,
      now: monotonic,
    })
    this.#flows = new LocalFlows(local, {
      answered: (flowId, payload) => this.#answer(flowId, payload),
      dropped: (reason) => this.#drop(reason),
      failed: (error) => options.onError(unreachable(options.target, error)),
      opened: (flow) => options.onFlow?.(flow),
    })
    this.#addresses = new FlowAddresses({
      open: (flowId, remote) => this.#flows.open(flowId, remote),
      deliver: (flowId, payload) => this.#flows.deliver(flowId, payload),
      dropped: () => this.#drop('local_queue_full'),
    })
  }

  get stats(): DatagramStats {
    return {
      received: this.#received,
      sent: this.#sent,
      dropped: { ...this.#dropped },
      flows: this.#flows.size,
      tunnels: this.#tunnels,
    }
  }

  /** Replaces the tunnel at once, because the relay was unreachable or has restarted. */
  wake(): void {
    this.#backoff.wake()
    if (!this.#tunnel) return
    this.#tunnel.close()
    this.#tunnel = undefined
    void this.#reconnect()
  }

  close(): void {
    this.#life.abort()
    this.#inbox.clear()
    this.#tunnel?.close()
    this.#addresses.clear()
    this.#flows.close()
  }

  /** @throws SvcError the reason why there is no tunnel */
  async dial(signal: AbortSignal = this.#life.signal): Promise<void> {
    const lease = this.#events.lease()
    if (lease === undefined) throw new SvcError('lease_ended', 'there is no lease for a datagram tunnel')
    this.#begin(lease)
    const authority = authorityOf(this.#relay)
    // A relay on several machines names the one that has the port; its certificate is still for the relay's host.
    const { host, port } = lease.tunnelAddress ?? authority
    const addresses = await addressesOf(host).catch((cause) => {
      throw new SvcError('relay_unreachable', `${host} has no address`, { cause })
    })
    // QUIC may not work on one of the host's addresses, so the next attempt uses another.
    const { address } = addresses[this.#failures % addresses.length]!
    const { ca, pulse, dial } = this.#options
    const tunnel = await openTunnel(
      { address, port, servername: authority.host, ca },
      lease.accessToken,
      {
        datagram: (bytes, at) => {
          if (!this.#inbox.push(bytes, at)) this.#drop('receive_queue_full')
        },
        flow: (flowId, remote) => {
          if (this.#awaitsAddresses) this.#addresses.told(flowId, remote)
        },
        dropped: (reason, count) => {
          if (reason !== 'receive_queue_full') this.#sent -= count
          this.#drop(reason, count)
        },
        ended: (reason) => this.#lost(tunnel, reason),
      },
      signal,
      pulse,
      dial,
    )
    if (this.#life.signal.aborted || signal.aborted) {
      tunnel.close()
      throw abortError(signal)
    }
    this.#tunnel = tunnel
    this.#tunnels += 1
  }

  /** Ends the flows of an earlier registration: the relay gives their numbers to other visitors. */
  #begin({ answer, extensions }: TunnelLease): void {
    if (this.#registration === answer) return
    this.#registration = answer
    const { onFlow, visitorAddress } = this.#options
    this.#awaitsAddresses = Boolean(onFlow && visitorAddress && extensions.has('visitor_address'))
    this.#inbox.clear()
    this.#addresses.clear()
    this.#flows.clear()
  }

  #lost(tunnel: Tunnel, reason: SvcError): void {
    if (this.#tunnel !== tunnel) return
    this.#tunnel = undefined
    void this.#reconnect(reason)
  }

  /**
   * Retries until there is a tunnel again, or the site is closed.
   * @param first the reason why there is none; without it, the first attempt has no pause
   */
  async #reconnect(first?: SvcError): Promise<void> {
    const { signal } = this.#life
    this.#backoff.reset()
    for (let reason = first; !signal.aborted; ) {
      if (reason) {
        if (STALE.has(reason.code)) this.#events.stale()
        else this.#events.failed(reason)
        await this.#backoff.pause(this.#backoff.next(), signal)
      }
      if (signal.aborted) return
      try {
        return await this.dial()
      } catch (error) {
        this.#failures += 1
        reason = asSvcError(error, 'tunnel_unreachable', 'there is no datagram tunnel')
      }
    }
  }

  #deliver(datagram: Uint8Array): void {
    const decoded = decodeDatagram(datagram)
    if (decoded === undefined) this.#drop('malformed')
    else {
      this.#received += 1
      const { flowId, payload } = decoded
      if (this.#awaitsAddresses && !this.#flows.has(flowId)) this.#addresses.received(flowId, payload)
      else this.#flows.deliver(flowId, payload)
    }
  }

  #answer(flowId: number, payload: Uint8Array): void {
    const unsent = this.#tunnel ? this.#tunnel.send(encodeDatagram(flowId, payload)) : 'no_tunnel'
    if (unsent) this.#drop(unsent)
    else this.#sent += 1
  }

  #drop(reason: string, count = 1): void {
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + count
  }
}

function authorityOf({ hostname, port }: URL): TunnelAddress {
  // A URL puts an IPv6 address in brackets.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || HTTPS_PORT) }
}

const lookupAll = promisify(localhostLookup as typeof resolve)

/** @returns at least one address */
async function addressesOf(host: string): Promise<{ address: string; family: number }[]> {
  const family = isIP(host)
  return family === 0 ? await lookupAll(host, { all: true }) : [{ address: host, family }]
}
