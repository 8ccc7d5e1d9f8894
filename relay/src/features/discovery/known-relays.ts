// The table of known relays: which origin belongs to which address, what each last stated about itself, and whether it
// answers.

import type { RelayDescriptor } from '@svc/protocol'
import { fromWallTime } from '../../core/clock.ts'
import type { ReadDescriptor } from './descriptor-rules.ts'
import { BINDING_MS, POLL_FAILURES_MAX, RELAYS_MAX, RELAYS_PER_NETWORK_MAX } from './limits.ts'
import type { Refusal } from './refusals.ts'

export interface KnownRelay {
  readonly origin: string
  readonly address: string
  readonly descriptor: RelayDescriptor
  /** By the clock of the relay that signed, milliseconds since the epoch. */
  readonly issuedAt: number
  /** Relay time. */
  readonly expiresAt: number
  /** As `relayNetworkOf` returns it. */
  readonly network: string
  /** The release that it named; empty when it named none. */
  readonly release: string
  /** Polls in a row that it did not answer. */
  readonly failures: number
  /** True when it has answered since this relay started. */
  readonly isConfirmed: boolean
  /** True when its last answer came over the overlay, since its public address did not answer. */
  readonly isLinked: boolean
}

/** The facts that an answer of the relay showed beside its descriptor. */
export type Seen = Pick<KnownRelay, 'network' | 'release'>

/** Times are relay time. */
export class KnownRelays {
  readonly #byOrigin = new Map<string, KnownRelay>()
  readonly #byAddress = new Map<string, KnownRelay>()
  /** Number of relays of each network. */
  readonly #perNetwork = new Map<string, number>()
  readonly #isBanned: (address: string, origin: string) => boolean
  /** Incremented when a relay is added or removed. */
  generation = 0
  /** Called when a relay is added or removed. */
  onChange: (() => void) | undefined

  constructor(isBanned: (address: string, origin: string) => boolean) {
    this.#isBanned = isBanned
  }

  get size(): number {
    return this.#byOrigin.size
  }

  [Symbol.iterator](): Iterator<KnownRelay> {
    return this.#byOrigin.values()
  }

  at(origin: string): KnownRelay | undefined {
    return this.#byOrigin.get(origin)
  }

  /** The relays that are passed on: their descriptors are valid, and they answer. */
  *current(now: number): Generator<KnownRelay> {
    for (const relay of this.#byOrigin.values()) if (ifCurrent(relay, now)) yield relay
  }

  /** The relay at this origin, if it is one of {@link current}. */
  currentAt(origin: string, now: number): KnownRelay | undefined {
    return ifCurrent(this.#byOrigin.get(origin), now)
  }

  /** The relay with this address, if it is one of {@link current}. @param address lower case with `0x` */
  currentOf(address: string, now: number): KnownRelay | undefined {
    return ifCurrent(this.#byAddress.get(address), now)
  }

  /**
   * The relays that may be peers of the overlay: the same, and those that answer only over the overlay, until the
   * descriptor that they gave there has expired.
   */
  *peers(now: number): Generator<KnownRelay> {
    for (const relay of this.#byOrigin.values()) if (ifPeer(relay, now)) yield relay
  }

  /** The relay at this origin, if it is one of {@link peers}. */
  peerAt(origin: string, now: number): KnownRelay | undefined {
    return ifPeer(this.#byOrigin.get(origin), now)
  }

  /** The relay with this address, if it is one of {@link peers}. @param address lower case with `0x` */
  peerOf(address: string, now: number): KnownRelay | undefined {
    return ifPeer(this.#byAddress.get(address), now)
  }

  /** Returns why the descriptor is refused, whatever its signature; undefined when the signature has to be verified. */
  objectionTo({ origin, address, issuedAt }: ReadDescriptor, now: number): Refusal | undefined {
    if (this.#isBanned(address, origin)) return 'banned'
    const owner = this.#byOrigin.get(origin)
    if (owner !== undefined && owner.address !== address && owner.expiresAt + BINDING_MS > now)
      return 'other_address'
    const held = this.#byAddress.get(address)
    return held !== undefined && issuedAt < held.issuedAt ? 'rolled_back' : undefined
  }

  /**
   * Adds a descriptor that came from its own origin, and whose signature is genuine.
   * @returns why there is no room; undefined when it was taken
   */
  confirm(read: ReadDescriptor, seen: Seen, now: number): Refusal | undefined {
    const objection = this.objectionTo(read, now) ?? this.#objectionToNetwork(read, seen.network, now)
    if (objection !== undefined) return objection
    const held = this.#byAddress.get(read.address)
    // A relay has one origin: the one that it named last.
    if (held !== undefined && held.origin !== read.origin) this.#remove(held)
    this.#put(read, { ...seen, failures: 0, isConfirmed: true, isLinked: false })
    return undefined
  }

  /**
   * Takes a newer descriptor of a known relay. It did not come from the origin, so it does not show whether that
   * answers.
   */
  refresh(read: ReadDescriptor): void {
    const held = this.#byOrigin.get(read.origin)
    if (held?.address === read.address && held.issuedAt < read.issuedAt) this.#put(read, held)
  }

  /**
   * Takes what a known relay states about itself over the overlay, which does not show that its public address answers.
   */
  link(read: ReadDescriptor): void {
    this.refresh(read)
    const relay = this.#byOrigin.get(read.origin)
    if (relay?.address === read.address) this.#set({ ...relay, isLinked: true })
  }

  /** Adds a relay from an earlier run, which has not answered yet. */
  restore(read: ReadDescriptor, seen: Seen, now: number): void {
    if (fromWallTime(read.expiresAt) + BINDING_MS <= now || this.#byAddress.has(read.address)) return
    const objection = this.objectionTo(read, now) ?? this.#objectionToNetwork(read, seen.network, now)
    if (objection === undefined)
      this.#put(read, { ...seen, failures: 0, isConfirmed: false, isLinked: false })
  }

  failed(origin: string): void {
    const relay = this.#byOrigin.get(origin)
    if (relay !== undefined) this.#set({ ...relay, failures: relay.failures + 1 })
  }

  /** Forgets banned relays, and origins that are no longer bound to an address. */
  sweep(now: number): void {
    for (const relay of [...this.#byOrigin.values()])
      if (relay.expiresAt + BINDING_MS <= now || this.#isBanned(relay.address, relay.origin))
        this.#remove(relay)
  }

  #objectionToNetwork({ origin }: ReadDescriptor, network: string, now: number): Refusal | undefined {
    const held = this.#byOrigin.get(origin)
    if (held?.network !== network && (this.#perNetwork.get(network) ?? 0) >= RELAYS_PER_NETWORK_MAX) {
      if (!this.#evict(now, (relay) => relay.network === network)) return 'crowded'
    }
    if (held === undefined && this.#byOrigin.size >= RELAYS_MAX && !this.#evict(now, () => true))
      return 'full'
    return undefined
  }

  /** Removes the relay with the oldest descriptor, of those that are not passed on. */
  #evict(now: number, isMeant: (relay: KnownRelay) => boolean): boolean {
    let oldest: KnownRelay | undefined
    for (const relay of this.#byOrigin.values())
      if (isMeant(relay) && isStale(relay, now) && relay.expiresAt < (oldest?.expiresAt ?? Infinity))
        oldest = relay
    if (oldest !== undefined) this.#remove(oldest)
    return oldest !== undefined
  }

  #put(
    read: ReadDescriptor,
    others: Pick<KnownRelay, 'network' | 'release' | 'failures' | 'isConfirmed' | 'isLinked'>,
  ): void {
    const { origin, address, descriptor, issuedAt, expiresAt } = read
    const { network, release, failures, isConfirmed, isLinked } = others
    this.#set({
      origin,
      address,
      descriptor,
      issuedAt,
      expiresAt: fromWallTime(expiresAt),
      network,
      release,
      failures,
      isConfirmed,
      isLinked,
    })
  }

  #set(relay: KnownRelay): void {
    const held = this.#byOrigin.get(relay.origin)
    if (held !== undefined) this.#unlist(held)
    this.#byOrigin.set(relay.origin, relay)
    this.#byAddress.set(relay.address, relay)
    this.#perNetwork.set(relay.network, (this.#perNetwork.get(relay.network) ?? 0) + 1)
    if (held?.address !== relay.address) this.#changed()
  }

  #remove(relay: KnownRelay): void {
    this.#byOrigin.delete(relay.origin)
    this.#unlist(relay)
    this.#changed()
  }

  #changed(): void {
    this.generation += 1
    this.onChange?.()
  }

  #unlist({ address, network }: KnownRelay): void {
    this.#byAddress.delete(address)
    const rest = this.#perNetwork.get(network)! - 1
    if (rest === 0) this.#perNetwork.delete(network)
    else this.#perNetwork.set(network, rest)
  }
}

function ifCurrent(relay: KnownRelay | undefined, now: number): KnownRelay | undefined {
  return relay?.isConfirmed && !isStale(relay, now) ? relay : undefined
}

function ifPeer(relay: KnownRelay | undefined, now: number): KnownRelay | undefined {
  return relay?.isConfirmed && relay.isLinked && relay.expiresAt > now ? relay : ifCurrent(relay, now)
}

/** Returns whether a relay may be removed to make room for another one. */
function isStale({ expiresAt, failures }: KnownRelay, now: number): boolean {
  return expiresAt <= now || failures >= POLL_FAILURES_MAX
}
