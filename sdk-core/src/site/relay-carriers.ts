// The connections that bring visitors: the carrier and, if the platform has one, the datagram tunnel.

import { settledWithin } from '@svc/protocol/timers'
import type { Traffic } from '../carrier/carrier-connection.ts'
import {
  type CarrierEvents,
  type CarrierStats,
  openMultiplexedCarrier,
  type Way,
} from '../carrier/multiplexed-carrier.ts'
import { openWebSocket } from '../carrier/websocket-transport.ts'
import type { Registration } from '../control/lease.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { DatagramCarrier, DatagramStats, Platform, SiteCarrier } from '../platform.ts'
import type { SiteEvents } from './events.ts'

/** The time that connected visitors have to finish when the site closes: enough for a short download. */
export const CLOSE_GRACE_MS = 5_000

/** Visitors receives a carrier's visitors. */
type Visitors = Pick<CarrierEvents, 'hasRoomFor' | 'serve'>

/** CarrierReports are a carrier's other events. */
export type CarrierReports = Pick<CarrierEvents, 'traffic' | 'admits' | 'ended'>

const NO_STATS: CarrierStats = { openStreams: 0, readyStreams: 0, webSockets: 0, rttMs: undefined }

export class RelayCarriers {
  readonly traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  #platform: Platform
  #relay: URL
  #keeper: LeaseKeeper
  #events: SiteEvents
  #carrier: SiteCarrier | undefined
  #datagrams: DatagramCarrier | undefined
  /** The URL of the carrier that was opened last. */
  #carrierUrl: string | undefined

  constructor(platform: Platform, relay: URL, keeper: LeaseKeeper, events: SiteEvents) {
    this.#platform = platform
    this.#relay = relay
    this.#keeper = keeper
    this.#events = events
  }

  /** True while there is a carrier that has not ended. */
  get isOpen(): boolean {
    return this.#carrier?.isClosed === false
  }

  get stats(): CarrierStats {
    return this.#carrier?.stats ?? NO_STATS
  }

  /** The figures of the datagram tunnel. Undefined when there is none. */
  get datagramStats(): DatagramStats | undefined {
    return this.#datagrams?.stats
  }

  /** True when the relay has moved the endpoint since the carrier was opened. */
  get hasMoved(): boolean {
    const url = this.#keeper.lease?.carrierUrl
    return url !== undefined && url !== this.#carrierUrl
  }

  /**
   * Opens the carrier, which passes each visitor to `visitors`. Resolves when the relay accepted the first stream. If a
   * gateway fails, the relay names another endpoint.
   * @throws SvcError
   */
  async openCarrier(
    lease: Registration,
    visitors: Visitors,
    reports: CarrierReports,
    signal: AbortSignal,
  ): Promise<void> {
    const open = (lease: Registration): Promise<SiteCarrier> =>
      this.#openCarrierAt(lease, visitors, reports, signal)
    const carrier = await (lease.isGateway
      ? this.#platform.gateways!.open(lease, open, (failed) => this.#keeper.look(signal, failed), signal)
      : open(lease))
    if (signal.aborted) carrier.close()
    else this.#carrier = carrier
  }

  /** Opens the ready streams that are missing. */
  fill(): void {
    this.#carrier?.fill()
  }

  /** Checks at once whether the relay still answers. */
  probe(): void {
    this.#carrier?.probe?.()
  }

  /** Accepts no more visitors. Resolves when the connected ones have left, or after a time limit. Never rejects. */
  async drain(): Promise<void> {
    if (this.#carrier) await settledWithin(this.#carrier.drain(), CLOSE_GRACE_MS)
  }

  closeCarrier(): void {
    this.#carrier?.close()
    this.#carrier = undefined
  }

  /**
   * Opens the datagram tunnel once. It reconnects on its own as long as there is a lease.
   * @throws SvcError
   */
  async openDatagrams(signal: AbortSignal): Promise<void> {
    const { openDatagrams: open } = this.#platform
    if (this.#datagrams) return this.#datagrams.wake()
    if (!open) return
    const datagrams = await open(
      this.#relay,
      {
        lease: () => this.#keeper.lease,
        stale: () => this.#keeper.renewNow(),
        failed: this.#events.error,
      },
      signal,
    )
    if (signal.aborted) datagrams.close()
    else this.#datagrams = datagrams
  }

  closeDatagrams(): void {
    this.#datagrams?.close()
    this.#datagrams = undefined
  }

  #openCarrierAt(
    lease: Registration,
    visitors: Visitors,
    reports: CarrierReports,
    signal: AbortSignal,
  ): Promise<SiteCarrier> {
    const { webSocketOptions: options, openCarrier: open } = this.#platform
    const { carrierUrl: url, isGateway, extensions, hostname, canonicalHostname } = lease
    // A newer capability may belong to another endpoint.
    const capability = (): string => {
      const newest = this.#keeper.lease
      return (newest?.carrierUrl === url ? newest : lease).capability
    }
    const events: CarrierEvents = {
      capability,
      hasRoomFor: (count) => visitors.hasRoomFor(count),
      serve: (activation) => visitors.serve(activation),
      stale: () => this.#keeper.renewNow(),
      traffic: () => reports.traffic(),
      admits: (isAdmitting) => reports.admits(isAdmitting),
      ended: (reason) => reports.ended(reason),
      debug: this.#events.debug,
    }
    this.#carrierUrl = url
    const relay = { url, isGateway, extensions, hostname, canonicalHostname }
    if (open) return open(relay, this.traffic, events, signal)
    const way: Way = {
      kind: 'websocket',
      connect: (attach, signal) => openWebSocket({ url, capability: capability(), options }, attach, signal),
    }
    return openMultiplexedCarrier(way, this.traffic, events, signal)
  }
}
