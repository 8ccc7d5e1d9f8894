// Who holds which name and ports until when: what has to outlive the process, apart from how that is done.

import { PORT_RESERVATION_MS } from '@svc/protocol'

export interface Ports {
  tcp?: number | undefined
  udp?: number | undefined
}

export interface Reservation {
  /** Friendly hostname; empty when another identity has it, or the lease was given up. */
  hostname: string
  /** Milliseconds since the epoch; the hostname is free from then on. */
  expiresAt: number
  /** Dedicated ports. They stay with the identity for {@link PORT_RESERVATION_MS} longer. */
  ports?: Ports | undefined
}

export class Reservations {
  /** By identity key. */
  readonly #held = new Map<string, Reservation>()
  /** Hostname → identity key. */
  readonly #holders = new Map<string, string>()
  readonly #changed: (key: string, reservation: Reservation) => void

  /** @param changed is told what has to be remembered */
  constructor(changed: (key: string, reservation: Reservation) => void = () => {}) {
    this.#changed = changed
  }

  get size(): number {
    return this.#held.size
  }

  /** The identity that nobody else may take `hostname` from now. */
  holderOf(hostname: string): string | undefined {
    const key = this.#holders.get(hostname)
    const isHeld = key !== undefined && (this.#held.get(key)?.expiresAt ?? 0) > Date.now()
    return isHeld ? key : undefined
  }

  /** The ports that are kept for an identity. */
  portsOf(key: string): Ports | undefined {
    const reservation = this.#held.get(key)
    return reservation !== undefined && keptUntil(reservation) > Date.now() ? reservation.ports : undefined
  }

  hold(key: string, reservation: Reservation): void {
    this.restore(key, reservation)
    this.#changed(key, reservation)
  }

  /** The lease is over, by itself or before its time; its ports stay for a while. */
  release(key: string): void {
    const reservation = this.#held.get(key)
    if (reservation === undefined) return
    const now = Date.now()
    const isEarly = reservation.expiresAt > now
    const rest = { hostname: '', expiresAt: Math.min(reservation.expiresAt, now), ports: reservation.ports }
    this.restore(key, rest)
    // What expires by itself says so already.
    if (isEarly) this.#changed(key, rest)
  }

  /** What was remembered: the last word on each identity counts. */
  restore(key: string, reservation: Reservation): void {
    const before = this.#held.get(key)
    if (before !== undefined && this.#holders.get(before.hostname) === key)
      this.#holders.delete(before.hostname)
    if (keptUntil(reservation) <= Date.now()) {
      this.#held.delete(key)
      return
    }
    this.#held.set(key, reservation)
    if (reservation.hostname !== '') this.#holders.set(reservation.hostname, key)
  }

  /** What still holds; the rest is forgotten on the way. */
  *[Symbol.iterator](): Iterator<[string, Reservation]> {
    for (const [key, reservation] of this.#held) {
      if (keptUntil(reservation) > Date.now()) yield [key, reservation]
      else this.restore(key, reservation)
    }
  }
}

function keptUntil({ expiresAt, ports }: Reservation): number {
  return ports === undefined ? expiresAt : expiresAt + PORT_RESERVATION_MS
}
