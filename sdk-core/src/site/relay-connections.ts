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

  /**
   * Opens the carrier. Resolves when the relay took the first stream.
   * @throws SvcError
   */
  openCarrier(
    lease: Registration,
    more: Omit<CarrierEvents, 'capability' | 'stale'>,
    signal: AbortSignal,
  ): Promise<SiteCarrier> {
    const { webSocketOptions: options, openCarrier: open } = this.#platform
    const capability = (): string => (this.#keeper.lease ?? lease).capability
    const events: CarrierEvents = { ...more, capability, stale: () => this.#keeper.renewNow() }
    const url = lease.carrierUrl
    if (open) return open({ url, extensions: lease.extensions }, this.traffic, events, signal)
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
