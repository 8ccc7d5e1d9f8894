// A site's connections to its relay: the carrier and, where the platform has one, the datagram tunnel.

import type { Traffic } from '../carrier/carrier-connection.ts'
import { type CarrierEvents, openMultiplexedCarrier } from '../carrier/multiplexed-carrier.ts'
import { openWebSocket } from '../carrier/websocket-transport.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { Registration } from '../control/registration.ts'
import type { SvcError } from '../errors.ts'
import type { DatagramCarrier, DatagramStats, Platform, SiteCarrier } from '../platform.ts'

export class RelayConnections {
  readonly traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  #platform: Platform
  #relay: URL
  #keeper: LeaseKeeper
  #failed: (error: SvcError) => void
  #datagrams: DatagramCarrier | undefined
  /** The URL of the carrier that was opened last. */
  #carrierUrl: string | undefined

  /** @param failed called with the reason for which there is no datagram tunnel at the moment */
  constructor(platform: Platform, relay: URL, keeper: LeaseKeeper, failed: (error: SvcError) => void) {
    this.#platform = platform
    this.#relay = relay
    this.#keeper = keeper
    this.#failed = failed
  }

  /** The figures of the datagram tunnel. Undefined where there is none. */
  get datagramStats(): DatagramStats | undefined {
    return this.#datagrams?.stats
  }

  /** Says whether the relay has moved the endpoint since the carrier was opened. */
  get hasMoved(): boolean {
    const url = this.#keeper.lease?.carrierUrl
    return url !== undefined && this.#carrierUrl !== undefined && url !== this.#carrierUrl
  }

  /**
   * Opens the carrier. Resolves when the relay took the first stream. Where a gateway fails, the relay names another
   * endpoint.
   * @throws SvcError
   */
  openCarrier(
    lease: Registration,
    more: Omit<CarrierEvents, 'capability' | 'stale'>,
    signal: AbortSignal,
  ): Promise<SiteCarrier> {
    const open = (lease: Registration): Promise<SiteCarrier> => this.#openCarrierAt(lease, more, signal)
    const avoid = (failed: Registration): Promise<Registration | undefined> =>
      this.#keeper.avoid(failed, signal)
    return lease.isGateway ? this.#platform.gateways!.open(lease, open, avoid, signal) : open(lease)
  }

  #openCarrierAt(
    lease: Registration,
    more: Omit<CarrierEvents, 'capability' | 'stale'>,
    signal: AbortSignal,
  ): Promise<SiteCarrier> {
    const { webSocketOptions: options, openCarrier: open } = this.#platform
    // A newer capability may be for another endpoint.
    const capability = (): string => {
      const newest = this.#keeper.lease
      return (newest?.carrierUrl === lease.carrierUrl ? newest : lease).capability
    }
    const events: CarrierEvents = { ...more, capability, stale: () => this.#keeper.renewNow() }
    const { carrierUrl: url, isGateway, extensions, hostname, canonicalHostname } = lease
    this.#carrierUrl = url
    const relay = { url, isGateway, extensions, hostname, canonicalHostname }
    if (open) return open(relay, this.traffic, events, signal)
    return openMultiplexedCarrier(
      {
        kind: 'websocket',
        connect: (attach, signal) =>
          openWebSocket({ url, capability: capability(), options }, attach, signal),
      },
      this.traffic,
      events,
      signal,
    )
  }

  /**
   * Opens the datagram tunnel once. It reconnects by itself for as long as there is a lease.
   * @throws SvcError
   */
  async openDatagrams(signal: AbortSignal): Promise<void> {
    const { openDatagrams: open } = this.#platform
    if (this.#datagrams) return this.#datagrams.wake()
    if (!open) return
    const datagrams = await open(
      this.#relay,
      {
        accessToken: () => this.#keeper.lease?.accessToken,
        tunnelAddress: () => this.#keeper.lease?.tunnelAddress,
        stale: () => this.#keeper.renewNow(),
        failed: this.#failed,
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
}
