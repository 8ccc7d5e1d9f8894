// Forwards datagrams between the visitors of a lease's UDP port and the lease's tunnel, and counts those that it drops.

import type { RemoteInfo } from 'node:dgram'
import { GcraLimiter } from '@svc/node-kit/gcra'
import { DATAGRAM_ALWAYS_BYTES, decodeDatagram, encodeDatagram } from '@svc/protocol'
import { networkOf } from '../../core/client-address/ip-address.ts'
import type { BoundPort } from '../../core/ingress/udp-port.ts'
import { openUdpPort, type UdpPort } from '../../core/ingress/udp-port.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { DatagramDrop } from '../../core/metrics/labels.ts'
import type { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { Bandwidth } from '../../core/rate-limit/bandwidth.ts'
import type { LeaseTraffic } from '../../core/traffic/lease-traffic.ts'
import { FlowAnnouncer, flowLineRates } from './flow-announcer.ts'
import { FlowTable } from './flow-table.ts'
import {
  DATAGRAM_BURST,
  DATAGRAMS_PER_SECOND_MAX,
  FLOW_SWEEP_MS,
  VALIDATED_BYTES_PER_SECOND,
} from './limits.ts'
import { NetworkRates } from './network-byte-rates.ts'
import type { TunnelConnection } from './quic.ts'

export interface ForwarderParts {
  /** The address at which ports are opened; undefined: every address. */
  listenAddress: string | undefined
  tunnelOf: (lease: Lease) => Pick<TunnelConnection, 'send' | 'sendLine' | 'datagramMaxBytes'> | undefined
  routes: (lease: Lease) => boolean
  bandwidthOf: (lease: Lease) => Bandwidth
  counters: RelayCounters
  /** Counts flows, and their bytes from time to time. */
  traffic: Pick<LeaseTraffic, 'begin' | 'carry' | 'setOpen' | 'onSample'>
}

interface Port {
  udp: UdpPort
  flows: FlowTable
  /** Slots of {@link IN} and {@link OUT}. */
  rates: GcraLimiter
  announcer: FlowAnnouncer
  currentLease: () => Lease | undefined
  /** Bytes of visitors, and to them, that are not counted yet. */
  received: number
  sent: number
  /** The lease whose flows are counted. */
  counted: Lease | undefined
}

const IN = 0
const OUT = 1
const RATE = { perMinute: DATAGRAMS_PER_SECOND_MAX * 60, burst: DATAGRAM_BURST }
const VALIDATED_RATE = { perMinute: VALIDATED_BYTES_PER_SECOND * 60, burst: VALIDATED_BYTES_PER_SECOND }

export class DatagramForwarder {
  readonly #parts: ForwarderParts
  readonly #ports = new Map<number, Port>()
  /** Limits bytes sent to a network beyond three times those received from it; created with the first port. */
  #networkRates: NetworkRates | undefined
  /** Limits lines about flows by the visitor's network; created with the first line. */
  #lineRates: NetworkRates | undefined
  #sweepTimer: NodeJS.Timeout | undefined

  constructor(parts: ForwarderParts) {
    this.#parts = parts
    parts.traffic.onSample(() => {
      for (const port of this.#ports.values()) this.#countTraffic(port)
    })
  }

  /** Opens a UDP port. Rejects when it cannot be bound. @param currentLease returns the lease that has the port now */
  async open(number: number, currentLease: () => Lease | undefined): Promise<BoundPort> {
    this.#networkRates ??= new NetworkRates(VALIDATED_RATE)
    const networkRates = this.#networkRates
    const flows = new FlowTable(this.#parts.counters, (address) => {
      const lease = currentLease()
      if (lease !== undefined) this.#parts.traffic.begin(lease, networkOf(address))
      return networkRates.of(address)
    })
    const udp = await openUdpPort(number, this.#parts.listenAddress, (payload, from) =>
      this.#fromVisitor(port, payload, from),
    )
    const announcer = new FlowAnnouncer(() => (this.#lineRates ??= flowLineRates()))
    const port: Port = {
      udp,
      flows,
      rates: new GcraLimiter(2, RATE),
      announcer,
      currentLease,
      received: 0,
      sent: 0,
      counted: undefined,
    }
    this.#ports.set(number, port)
    this.#sweepTimer ??= setInterval(() => this.#sweep(), FLOW_SWEEP_MS).unref()
    return {
      close: () => {
        udp.close()
        flows.clear()
        this.#countTraffic(port)
        this.#ports.delete(number)
        if (this.#ports.size > 0) return
        clearInterval(this.#sweepTimer)
        this.#sweepTimer = undefined
      },
    }
  }

  /** Forwards a datagram from the tunnel of `lease` to its visitor. */
  fromTunnel(datagram: Uint8Array, lease: Lease): void {
    const reason = this.#toVisitor(datagram, lease)
    if (reason === undefined) this.#parts.counters.datagramsOut += 1
    else this.#parts.counters.datagramsDropped.add({ reason })
  }

  #fromVisitor(port: Port, payload: Uint8Array, from: RemoteInfo): void {
    const reason = this.#toTunnel(port, payload, from)
    if (reason === undefined) this.#parts.counters.datagramsIn += 1
    else this.#parts.counters.datagramsDropped.add({ reason })
  }

  /** @returns why the datagram was dropped; undefined when it was sent */
  #toTunnel(port: Port, payload: Uint8Array, from: RemoteInfo): DatagramDrop | undefined {
    const { tunnelOf, routes, bandwidthOf } = this.#parts
    const lease = port.currentLease()
    if (lease === undefined || !routes(lease)) return 'not_routed'
    const tunnel = tunnelOf(lease)
    if (tunnel === undefined) return 'no_tunnel'
    if (!spendDatagram(port, IN)) return 'rate_limit'
    const flow = port.flows.onReceived(from.address, from.port, payload.length)
    if (flow === undefined) return 'flow_limit'
    const datagram = encodeDatagram(flow.id, payload)
    if (datagram.length > DATAGRAM_ALWAYS_BYTES && datagram.length > tunnel.datagramMaxBytes)
      return 'too_large'
    if (!bandwidthOf(lease).trySpend(payload.length)) return 'bandwidth'
    if (lease.preferences.visitorAddress) port.announcer.announce(flow, tunnel)
    if (!tunnel.send(datagram)) return 'queue_full'
    port.received += payload.length
    return undefined
  }

  #toVisitor(datagram: Uint8Array, lease: Lease): DatagramDrop | undefined {
    const { routes, bandwidthOf } = this.#parts
    const port = this.#ports.get(lease.ports?.udp ?? 0)
    if (port?.currentLease() !== lease || !routes(lease)) return 'not_routed'
    if (!spendDatagram(port, OUT)) return 'rate_limit'
    const decoded = decodeDatagram(datagram)
    if (decoded === undefined) return 'malformed'
    const { flowId, payload } = decoded
    const flow = port.flows.find(flowId)
    if (flow === undefined) return 'unknown_flow'
    if (!port.flows.spend(flow, payload.length)) return 'amplification'
    if (!bandwidthOf(lease).trySpend(payload.length)) return 'bandwidth'
    if (!port.udp.send(payload, flow.port, flow.address)) return 'queue_full'
    port.sent += payload.length
    return undefined
  }

  #countTraffic(port: Port): void {
    const { traffic } = this.#parts
    const lease = port.currentLease() ?? port.counted
    if (port.counted !== undefined && port.counted !== lease) traffic.setOpen(port, port.counted, 0)
    port.counted = lease
    if (lease === undefined) return
    traffic.carry(lease, port.received, port.sent)
    traffic.setOpen(port, lease, port.flows.size)
    port.received = 0
    port.sent = 0
  }

  #sweep(): void {
    for (const { flows } of this.#ports.values()) flows.sweep()
  }
}

function spendDatagram({ rates }: Port, slot: number): boolean {
  const now = performance.now()
  if (rates.waitMs(slot, 1, now) > 0) return false
  rates.spend(slot, 1, now)
  return true
}
