// Asks each peer from time to time whether it is a gateway with room, over the overlay: one that cannot be reached
// there is of no use.

import { askPeer } from '../ask-peer.ts'
import { GATEWAY_PROBES_PARALLEL_MAX, OVERLAY_LIMITS } from '../limits.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import type { ProbeTimes } from '../settings.ts'
import { GATEWAY_PATH } from './paths.ts'

interface Probe {
  /** Time of the last probe, by the monotonic clock. */
  askedAt: number
  /** Time until the next probe. */
  pauseMs: number
  isGateway: boolean
}

export class AvailableGateways {
  readonly #network: OverlayNetwork
  readonly #times: ProbeTimes
  /** By identity. */
  readonly #probes = new Map<string, Probe>()
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #running = 0

  constructor(network: OverlayNetwork, times: ProbeTimes = OVERLAY_LIMITS.probes) {
    this.#network = network
    this.#times = times
  }

  /** Begins to probe: called each time this relay starts to listen on the overlay. */
  start(): void {
    if (this.#closing.signal.aborted) return
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#tick(), this.#times.tickMs).unref()
    this.#tick()
  }

  /** Peers that answered the last probe, and carry sessions. */
  *[Symbol.iterator](): Generator<OverlayPeer> {
    if (!this.#network.isUp) return
    for (const peer of this.#network.peers()) if (this.#probes.get(peer.identity)?.isGateway) yield peer
  }

  /** @param identity lower case with `0x` */
  get(identity: string): OverlayPeer | undefined {
    const isGateway = this.#network.isUp && this.#probes.get(identity)?.isGateway
    return isGateway ? this.#network.peerOf(identity) : undefined
  }

  close(): void {
    clearInterval(this.#timer)
    this.#closing.abort()
  }

  #tick(): void {
    if (!this.#network.isUp) return
    const peers = new Map([...this.#network.peers()].map((peer) => [peer.identity, peer]))
    for (const identity of this.#probes.keys()) if (!peers.has(identity)) this.#probes.delete(identity)
    const now = performance.now()
    for (const peer of this.#due([...peers.values()], now)) {
      if (this.#running >= GATEWAY_PROBES_PARALLEL_MAX) return
      void this.#ask(peer, now)
    }
  }

  /** The peer that has waited longest comes first, so those that never answer do not take another one's turn. */
  #due(peers: readonly OverlayPeer[], now: number): OverlayPeer[] {
    const since = ({ identity }: OverlayPeer): number =>
      this.#probes.get(identity)?.askedAt ?? Number.NEGATIVE_INFINITY
    return (
      peers
        .filter((peer) => now - since(peer) >= (this.#probes.get(peer.identity)?.pauseMs ?? 0))
        // Two peers that were never asked give NaN: either may be first.
        .sort((a, b) => since(a) - since(b) || 0)
    )
  }

  async #ask(peer: OverlayPeer, askedAt: number): Promise<void> {
    this.#running += 1
    const { pauseMs = this.#times.intervalMs, isGateway = false } = this.#probes.get(peer.identity) ?? {}
    // A peer that has not answered yet is not asked again meanwhile.
    const probe: Probe = { askedAt, pauseMs: Number.POSITIVE_INFINITY, isGateway }
    this.#probes.set(peer.identity, probe)
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#times.deadlineMs)])
    try {
      const { status } = await askPeer(this.#network, peer, { path: GATEWAY_PATH }, signal)
      probe.isGateway = status === OK
      probe.pauseMs = this.#times.intervalMs
    } catch {
      probe.isGateway = false
      probe.pauseMs = Math.min(2 * pauseMs, this.#times.failedMaxMs)
    } finally {
      this.#running -= 1
    }
  }
}

const OK = 200
