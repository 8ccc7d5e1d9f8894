// Keeps which identity has which name and ports, and until when. The journal makes reservations survive the process.

import { PORT_RESERVATION_MS } from '@svc/protocol'
import { now } from '../clock.ts'
import { type FormerOwner, FormerOwners } from './former-owners.ts'
import {
  CERTIFIED_NAMES_PER_ACCOUNT_MAX,
  CERTIFIED_NAMES_PER_NETWORK_MAX,
  GRACE_NAMES_MAX,
  GRACE_NAMES_PER_ACCOUNT_MAX,
  GRACE_NAMES_PER_NETWORK_MAX,
  KeptNames,
} from './kept-names.ts'
import type { LeasePorts } from './lease-ports.ts'

/**
 * How long a friendly name at least stays reserved for its identity after its lease has ended. Within the bounds of
 * kept-names.ts it stays for `NAME_GRACE`.
 */
export const NAME_RESERVATION_MS: number = 10 * 60_000
/** Names that stay with their identities while a certificate for them is valid: the number of stored chains. */
export const CERTIFIED_NAMES_MAX = 10_000
/**
 * Identities without a lease whose name or ports are reserved. The relay forgets the one whose lease ended longest
 * ago first.
 */
const RESERVATIONS_MAX = 200_000

export interface Reservation {
  /**
   * Friendly hostname; empty when another identity has it. It stays with the identity for {@link NAME_RESERVATION_MS}
   * or the grace longer.
   */
  hostname: string
  /** Relay time at which the lease ends, or ended. */
  expiresAt: number
  /** Dedicated ports. They stay with the identity for {@link PORT_RESERVATION_MS} longer. */
  ports?: LeasePorts | undefined
  /**
   * Relay time until which a certificate for the hostname may be valid, whose key the identity has. Nobody else gets the hostname
   * before that.
   */
  certifiedUntil?: number | undefined
  /** Network of the client that registered the lease, or the wide network after a restart. @default unknown */
  network?: string | undefined
  /** Whether the lease asked for a page at its hostname while the site is away. @default false */
  awayPage?: boolean | undefined
}

/** A reservation that no other identity can take, but that is not in force before it is confirmed. */
export interface PreparedReservation {
  readonly hostname: string
  /**
   * Puts the reservation in force. It must be on disk.
   * @param hostname the hostname that the lease got. @default that of the reservation
   */
  confirm(hostname?: string): void
  /** Discards the reservation. */
  drop(): void
}

export interface ReservationsOptions {
  /** Identities without a lease; the one whose lease ended longest ago is forgotten first. @default RESERVATIONS_MAX */
  keptMax?: number
  /** Milliseconds for which a name stays with its identity after its lease. @default NAME_RESERVATION_MS */
  graceMs?: number | undefined
}

export class Reservations {
  /** By identity key. */
  readonly #held = new Map<string, Reservation>()
  /** Hostname → identity key. */
  readonly #holders = new Map<string, string>()
  /** Keys of identities without a lease; the one that left longest ago is first. */
  readonly #left = new Set<string>()
  /** Keys of identities with a certificate for their hostname, with and without a lease; they are not in {@link #left}. */
  readonly #certified = new Set<string>()
  /** Those of them without a lease. */
  readonly #kept = new KeptNames({
    perAccount: CERTIFIED_NAMES_PER_ACCOUNT_MAX,
    perNetwork: CERTIFIED_NAMES_PER_NETWORK_MAX,
  })
  /** Other identities without a lease whose names stay with them for the whole grace; they are not in {@link #left}. */
  readonly #graced = new KeptNames({
    perAccount: GRACE_NAMES_PER_ACCOUNT_MAX,
    perNetwork: GRACE_NAMES_PER_NETWORK_MAX,
    total: GRACE_NAMES_MAX,
  })
  readonly #former = new FormerOwners()
  /** By identity key: the reservation that follows the one in force. */
  readonly #prepared = new Map<string, Reservation>()
  /** Hostname → identity key. */
  readonly #preparers = new Map<string, string>()
  readonly #changed: (key: string, reservation: Reservation) => void
  readonly #keptMax: number
  readonly #graceMs: number

  /** @param changed called with each reservation that has to be written */
  constructor(
    changed: (key: string, reservation: Reservation) => void = () => {},
    { keptMax = RESERVATIONS_MAX, graceMs = NAME_RESERVATION_MS }: ReservationsOptions = {},
  ) {
    this.#changed = changed
    this.#keptMax = keptMax
    this.#graceMs = graceMs
  }

  get size(): number {
    return this.#held.size + this.#prepared.size
  }

  /** The identity that has `hostname` reserved now. */
  holderOf(hostname: string): string | undefined {
    return this.ownerOf(hostname) ?? this.#preparers.get(hostname)
  }

  /** The same, without an identity that is about to get it. */
  ownerOf(hostname: string): string | undefined {
    const key = this.#holders.get(hostname)
    if (key === undefined) return undefined
    const reservation = this.#held.get(key)
    return reservation !== undefined && this.#nameKeptUntil(key, reservation) > now() ? key : undefined
  }

  /** Whether the identity, and nobody who is about to register, has the hostname, without a certificate of its own for it. */
  isKeptPlain(key: string, hostname: string): boolean {
    return this.holderOf(hostname) === key && this.#held.get(key)?.certifiedUntil === undefined
  }

  /** Whether a certificate may be issued for the hostname of an identity, since few names may be kept for long. */
  mayCertify(key: string): boolean {
    if (this.#certified.has(key) || this.#certified.size < CERTIFIED_NAMES_MAX) return true
    this.#forgetExpired()
    return this.#certified.size < CERTIFIED_NAMES_MAX
  }

  /** Keeps the hostname with the identity for as long as a certificate for it may be valid. */
  certify(key: string, hostname: string, until: number): void {
    const held = this.#held.get(key)
    if (hostname === '' || held?.hostname !== hostname || until <= (held.certifiedUntil ?? 0)) return
    const certified = { certifiedUntil: until }
    const prepared = this.#prepared.get(key)
    if (prepared?.hostname === hostname) Object.assign(prepared, certified)
    const hasLeft = this.#hasLeft(key)
    this.#put(key, { ...held, ...certified })
    if (hasLeft) this.#leave(key)
    this.#notify(key)
  }

  /** The other identity that had the hostname before `key` got it, as far as this process remembers. */
  formerOwner(key: string, hostname: string): FormerOwner | undefined {
    return this.#former.before(key, hostname)
  }

  /** The ports that are reserved for an identity. */
  portsOf(key: string): LeasePorts | undefined {
    const reservation = this.#held.get(key)
    const isKept = reservation !== undefined && reservation.expiresAt + PORT_RESERVATION_MS > now()
    return isKept ? reservation.ports : undefined
  }

  /** Sets the reservation of an active lease. */
  hold(key: string, reservation: Reservation): void {
    this.#put(key, reservation)
    this.#notify(key)
  }

  /** Sets the reservation of a lease that another machine has registered or renewed, and writes. */
  apply(key: string, reservation: Reservation): void {
    this.#put(key, reservation)
  }

  /** Prepares a reservation to be written before it is in force, so that a failed write needs no rollback. */
  prepare(key: string, wanted: Reservation): PreparedReservation {
    const { hostname } = wanted
    const reservation = this.#withCertificate(key, wanted)
    this.#prepared.set(key, reservation)
    if (hostname !== '') this.#preparers.set(hostname, key)
    this.#notify(key)
    const isOver = (): boolean => {
      // The identity may have prepared another one in the meantime.
      if (this.#prepared.get(key) !== reservation) return false
      this.#prepared.delete(key)
      this.#preparers.delete(hostname)
      return true
    }
    return {
      hostname,
      confirm: (granted = hostname) => {
        isOver()
        this.#put(key, { ...reservation, hostname: granted })
      },
      drop: () => {
        if (isOver()) this.#notify(key)
      },
    }
  }

  /** Ends the reservation of a lease that expired or ended early; its name and ports stay reserved for a while. */
  release(key: string): void {
    const reservation = this.#held.get(key)
    if (reservation === undefined || this.#hasLeft(key)) return
    const time = now()
    const isEarly = reservation.expiresAt > time
    this.restore(key, { ...reservation, expiresAt: Math.min(reservation.expiresAt, time) })
    // The journal already has the expiry time.
    if (isEarly) this.#notify(key)
  }

  /** Restores a reservation without a lease. The last one of each identity counts. */
  restore(key: string, reservation: Reservation): void {
    this.#put(key, reservation)
    this.#leave(key)
  }

  #leave(key: string): void {
    const { hostname, network = '' } = this.#held.get(key)!
    if (this.#certified.has(key)) for (const other of this.#kept.add(key, network)) this.#giveUpName(other)
    else if (hostname !== '' && this.#graceMs > NAME_RESERVATION_MS)
      for (const other of this.#graced.add(key, network)) this.#left.add(other)
    else this.#left.add(key)
    for (const first of this.#graced) {
      if (!this.#isOver(first)) break
      this.#forget(first)
    }
    for (const first of this.#left) {
      if (!this.#isOver(first) && this.#left.size <= this.#keptMax) return
      this.#forget(first)
    }
  }

  /** Whether the identity has a reservation and no lease. */
  #hasLeft(key: string): boolean {
    return this.#left.has(key) || this.#kept.has(key) || this.#graced.has(key)
  }

  #isAway(key: string): boolean {
    return this.#hasLeft(key) && !this.#isOver(key)
  }

  #isOver(key: string): boolean {
    return this.#keptUntil(key, this.#held.get(key)!) <= now()
  }

  /** Iterates over those without a lease whose last one asked for an away page. */
  *awayPages(): Generator<[key: string, reservation: Reservation]> {
    for (const [key, reservation] of this.#held)
      if (
        reservation.awayPage &&
        reservation.hostname !== '' &&
        !this.#prepared.has(key) &&
        this.#isAway(key)
      )
        yield [key, reservation]
  }

  /** Iterates over the reservations that have to be written. */
  *[Symbol.iterator](): Iterator<[string, Reservation]> {
    // Prepared ones come first: one that is confirmed in the meantime is then held, and comes a second time.
    yield* this.#prepared
    for (const [key, reservation] of this.#held)
      if (this.#keptUntil(key, reservation) > now()) yield [key, this.#prepared.get(key) ?? reservation]
  }

  #put(key: string, reservation: Reservation): void {
    const kept = this.#withCertificate(key, reservation)
    if (reservation.hostname !== this.#held.get(key)?.hostname) this.#remember(key)
    this.#freeName(key)
    this.#left.delete(key)
    this.#kept.remove(key)
    this.#graced.remove(key)
    if ((kept.certifiedUntil ?? 0) > now()) this.#certified.add(key)
    else this.#certified.delete(key)
    this.#held.set(key, kept)
    if (reservation.hostname === '') return
    const before = this.#holders.get(reservation.hostname)
    if (before !== undefined) this.#remember(before)
    this.#holders.set(reservation.hostname, key)
  }

  /** The certificate keeps the name no longer. */
  #giveUpName(key: string): void {
    const reservation = this.#held.get(key)!
    const { hostname, expiresAt, certifiedUntil } = reservation
    // For the warning to the next owner.
    this.#former.add(hostname, { key, until: expiresAt, certifiedUntil })
    this.#certified.delete(key)
    this.#held.set(key, { ...reservation, certifiedUntil: undefined })
    this.#left.add(key)
    this.#notify(key)
  }

  /** A certificate outlives the lease for which it was issued. */
  #withCertificate(key: string, reservation: Reservation): Reservation {
    const before = this.#held.get(key)
    if (before?.hostname !== reservation.hostname) return reservation
    const until = Math.max(before.certifiedUntil ?? 0, reservation.certifiedUntil ?? 0)
    return until > now() ? { ...reservation, certifiedUntil: until } : reservation
  }

  #forgetExpired(): void {
    const time = now()
    for (const key of this.#certified) {
      const reservation = this.#held.get(key)!
      if ((reservation.certifiedUntil ?? 0) > time) continue
      this.#certified.delete(key)
      if (this.#keptUntil(key, reservation) <= time) this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#remember(key)
    this.#freeName(key)
    this.#left.delete(key)
    this.#kept.remove(key)
    this.#graced.remove(key)
    this.#certified.delete(key)
    this.#held.delete(key)
  }

  /** Takes the name from an identity, if it has it. */
  #remember(key: string): void {
    const { hostname = '', expiresAt = 0, certifiedUntil } = this.#held.get(key) ?? {}
    if (hostname === '' || this.#holders.get(hostname) !== key) return
    const known = this.#former.of(hostname)
    const until = Math.max(certifiedUntil ?? 0, known?.key === key ? (known.certifiedUntil ?? 0) : 0)
    this.#former.add(hostname, { key, until: expiresAt, certifiedUntil: until || undefined })
  }

  /** Another identity may have it by now. */
  #freeName(key: string): void {
    const hostname = this.#held.get(key)?.hostname ?? ''
    if (this.#holders.get(hostname) === key) this.#holders.delete(hostname)
  }

  /** A prepared reservation takes precedence over any change to the one in force. */
  #notify(key: string): void {
    const nothing = { hostname: '', expiresAt: now() }
    this.#changed(key, this.#prepared.get(key) ?? this.#held.get(key) ?? nothing)
  }

  #nameKeptUntil(key: string, { hostname, expiresAt, certifiedUntil = 0 }: Reservation): number {
    if (hostname === '') return expiresAt
    const graceMs = this.#graced.has(key) ? this.#graceMs : NAME_RESERVATION_MS
    return Math.max(expiresAt + graceMs, certifiedUntil)
  }

  #keptUntil(key: string, reservation: Reservation): number {
    const { expiresAt, ports } = reservation
    const portsUntil = expiresAt + (ports === undefined ? 0 : PORT_RESERVATION_MS)
    return Math.max(this.#nameKeptUntil(key, reservation), portsUntil)
  }
}
