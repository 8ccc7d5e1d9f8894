// The overlay that the relay makes itself: a WireGuard interface whose peers are the verified relays that also have
// one.

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { resetSocket } from '@svc/node-kit/sockets'
import { Backoff } from '@svc/protocol/timers'
import { normalizeIp } from '../../../core/client-address/ip-address.ts'
import { monotonic } from '../../../core/clock.ts'
import type { Logger } from '../../../core/log/log.ts'
import { createNameLookup } from '../../../core/outbound/name-lookup.ts'
import { dialPeer } from '../dial-peer.ts'
import type { OverlayNetwork, OverlayPeer } from '../overlay-network.ts'
import type { VerifiedRelays } from '../verified-relays.ts'
import { type DevicePeer, mendDevice, type PeerReading, readDevice, setPeers, setUpDevice } from './device.ts'
import type { OverlayDriver, OverlayLink } from './driver.ts'
import { Endpoints } from './endpoints.ts'
import { findDriver } from './find-driver.ts'
import { removeRules } from './firewall.ts'
import { askOwnerOver, KeyOwners } from './key-owners.ts'
import { FOLLOW_MS, RESTART_MAX_MS, RESTART_MS } from './limits.ts'
import { isConnected, LinkPeers } from './link-peers.ts'
import type { LinkState } from './link-state.ts'
import { overlayAddressOf } from './overlay-address.ts'
import { closeOverlayRoute, removeOverlayRoute } from './routes.ts'

export interface WireGuardParts {
  state: LinkState
  /** UDP port of WireGuard. */
  listenPort: number
  relays: VerifiedRelays
  /** True when peers at addresses that are not public are accepted, as in tests. */
  allowsLoopback: boolean
  log: Pick<Logger, 'info' | 'warn'>
  /** Called each time the interface has its address. If it rejects, the interface is removed and made again. */
  onUp: () => Promise<void>
  /** Called each time the interface is lost. */
  onDown?: () => void
  /** Finds the driver, or the reason why there is none. */
  findDriver?: () => Promise<OverlayDriver | string>
  /** Returns whether the system's resolver, with its hosts file, resolves a name: those of the operator. */
  isOfSystem: (hostname: string) => boolean
  /** Milliseconds between two checks of the interface. */
  followMs?: number
  /** The first pause before a restart, in milliseconds. */
  restartMs?: number
}

/** For metrics. */
export interface LinkReadings {
  isUp: boolean
  /** Relays that are peers. */
  peers: number
  /** Peers with a session. */
  connected: number
  /** Time since the newest handshake, in milliseconds; undefined without one. */
  handshakeAgeMs: number | undefined
  /** Bytes in WireGuard packets since the relay started. */
  receivedBytes: number
  sentBytes: number
  /** The number of times that the interface had to be made again. */
  restarts: number
}

export class WireGuardNetwork implements OverlayNetwork {
  readonly address: string
  readonly #parts: WireGuardParts
  readonly #peers: LinkPeers
  readonly #endpoints: Endpoints
  readonly #closing = new AbortController()
  readonly #traffic: { received: number; sent: number } = { received: 0, sent: 0 }
  /** Open connections to peers. */
  readonly #dialled = new Set<Socket>()
  #hasClosedRoute = false
  #restarts = 0
  #isUp = false
  #readings: readonly PeerReading[] = []
  /** Ends the current wait for the next check. */
  #wake: AbortController = new AbortController()
  #running: Promise<void> | undefined
  readonly #tried: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor(parts: WireGuardParts) {
    this.#parts = parts
    const { publicKey } = parts.state
    this.address = overlayAddressOf(publicKey)
    const lookup = createNameLookup({ isOfSystem: parts.isOfSystem, signal: this.#closing.signal })
    this.#endpoints = new Endpoints({ ...parts, lookup, onChange: () => this.follow() })
    const addressesOf = (origin: string): readonly string[] => this.#endpoints.addressesOf(origin)
    const owners = new KeyOwners(askOwnerOver(this), () => this.follow(), this.#closing.signal)
    this.#peers = new LinkPeers({ publicKey, address: this.address, addressesOf, owners })
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Resolves when the interface is up for the first time, or could not be made. */
  get tried(): Promise<void> {
    return this.#tried.promise
  }

  get readings(): LinkReadings {
    const handshakes = this.#readings.flatMap(({ handshakeAt }) => handshakeAt ?? [])
    return {
      isUp: this.#isUp,
      peers: [...this.#peers.all].length,
      connected: this.#readings.filter(isConnected).length,
      handshakeAgeMs: handshakes.length > 0 ? Math.max(0, Date.now() - Math.max(...handshakes)) : undefined,
      receivedBytes: this.#traffic.received,
      sentBytes: this.#traffic.sent,
      restarts: this.#restarts,
    }
  }

  /** Makes the interface, and makes it again whenever it is lost. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Applies the verified relays now, without waiting for the next check. */
  follow(): void {
    this.#wake.abort()
  }

  peers(): Iterable<OverlayPeer> {
    return this.#peers.all
  }

  peerOf(identity: string): OverlayPeer | undefined {
    return this.#peers.of(identity)
  }

  peerAt(overlayAddress: string): OverlayPeer | undefined {
    return this.#peers.at(normalizeIp(overlayAddress) ?? '')
  }

  async connect({ overlayAddress, port }: OverlayPeer, signal?: AbortSignal): Promise<Socket> {
    if (!this.#isUp) throw new Error('the overlay is down')
    const socket = await dialPeer({ host: overlayAddress, port, localAddress: this.address }, signal)
    if (!this.#isUp) {
      resetSocket(socket.on('error', () => {}))
      throw new Error('the overlay went down')
    }
    this.#dialled.add(socket)
    socket.once('close', () => this.#dialled.delete(socket))
    return socket
  }

  /** Resolves when the interface is gone. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.follow()
    await this.#running
    if (this.#hasClosedRoute) await removeOverlayRoute()
  }

  async #run(): Promise<void> {
    const { restartMs = RESTART_MS, log } = this.#parts
    const backoff = new Backoff(restartMs, RESTART_MAX_MS)
    let lastCause = ''
    while (!this.#closing.signal.aborted) {
      const since = monotonic()
      const cause = await this.#live()
      this.#tried.resolve()
      if (this.#closing.signal.aborted) return
      if (monotonic() - since > RESTART_MAX_MS) backoff.reset()
      if (cause !== lastCause)
        log.warn({ cause }, 'the overlay is unavailable; the relay serves everything else, and tries again')
      lastCause = cause
      await sleep(backoff.next(), undefined, { signal: this.#closing.signal }).catch(() => {})
      this.#restarts += 1
    }
  }

  /** Makes the interface and serves it until it ends. @returns why it ended, or was not made; never rejects */
  async #live(): Promise<string> {
    const { interfaceName } = this.#parts.state
    let link: OverlayLink | undefined
    let cause: string | undefined
    try {
      const driver = await (this.#parts.findDriver ?? findDriver)()
      if (typeof driver === 'string') return driver
      await closeOverlayRoute()
      this.#hasClosedRoute = true
      link = await driver.open(interfaceName)
      void link.ended.then((why) => {
        cause = `${driver.name}: ${why}`
        this.follow()
      })
      await this.#serve(driver.name, () => cause !== undefined || this.#closing.signal.aborted)
      return cause ?? 'closed'
    } catch (error) {
      return cause ?? (error as Error).message
    } finally {
      if (this.#isUp && !this.#closing.signal.aborted) this.#parts.onDown?.()
      this.#isUp = false
      this.#peers.clear()
      this.#readings = []
      for (const socket of this.#dialled) resetSocket(socket)
      await link?.close()
      await removeRules(interfaceName)
    }
  }

  /** Keeps the peers up to date until the link has ended. @throws Error when the interface does not answer */
  async #serve(driver: string, hasEnded: () => boolean): Promise<void> {
    const { state, listenPort, relays, log, onUp, followMs = FOLLOW_MS } = this.#parts
    const { interfaceName } = state
    const { address } = this
    const device = { ...state, listenPort, address }
    let rules = await setUpDevice(device)
    if (rules === undefined) log.warn(WITHOUT_FIREWALL)
    // A relay that closes lets nobody in.
    if (hasEnded()) return
    await onUp()
    this.#isUp = true
    log.info({ driver, interface: interfaceName, address, port: listenPort }, 'the overlay is up')
    this.#tried.resolve()
    let written = ''
    while (!hasEnded()) {
      this.#wake = new AbortController()
      this.#account(await readDevice(interfaceName))
      const look = await mendDevice(device, rules)
      const { mended } = look
      rules = look.rules
      if (mended.length > 0) log.warn({ mended }, 'another program changed the interface of the overlay')
      const peers = this.#peers.follow(relays, this.#readings)
      this.#endpoints.keep(new Set([...relays].map(({ origin }) => origin)))
      const wanted = keyOf(peers)
      if (wanted !== written) await setPeers(device, peers)
      written = wanted
      await sleep(followMs, undefined, { signal: this.#wake.signal }).catch(() => {})
    }
  }

  #account(readings: readonly PeerReading[]): void {
    const before = new Map(this.#readings.map((reading) => [reading.publicKey, reading]))
    for (const { publicKey, receivedBytes, sentBytes } of readings) {
      const { receivedBytes: received = 0, sentBytes: sent = 0 } = before.get(publicKey) ?? {}
      // The counter of a peer that was removed meanwhile starts at 0 again.
      this.#traffic.received += receivedBytes >= received ? receivedBytes - received : receivedBytes
      this.#traffic.sent += sentBytes >= sent ? sentBytes - sent : sentBytes
    }
    this.#readings = readings
  }
}

/** Logged at each start of the interface. */
const WITHOUT_FIREWALL =
  'the machine has no nft: peers on the overlay can reach other IPv6 addresses of it; install nftables'

/** Returns a text that is equal for two lists of peers if WireGuard needs no update. */
function keyOf(peers: readonly DevicePeer[]): string {
  return JSON.stringify(
    peers.map(({ publicKey, overlayAddress, host, port }) => [publicKey, overlayAddress, host, port]).sort(),
  )
}
