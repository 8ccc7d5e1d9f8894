// Pings the peer, to measure the round trip and to check that the peer is alive.

import { YamuxError } from './errors.ts'

interface Ping extends PromiseWithResolvers<number> {
  readonly id: number
  readonly sentAt: number
}

const PING_IDS = 2 ** 32

export class Keepalive {
  readonly #intervalMs: number
  readonly #timeoutMs: number
  readonly #send: (id: number) => void
  readonly #onDead: (cause: YamuxError) => void
  #nextId = 0
  /** The ping in flight; concurrent callers share it. */
  #ping: Ping | undefined
  #rtt: number | undefined
  /**
   * True when bytes arrived since the last ping. Any byte shows that the peer is alive: an answer may wait behind bulk
   * data.
   */
  #heard = false
  #interval: ReturnType<typeof setTimeout> | undefined
  #timeout: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  constructor(
    settings: { readonly keepAliveIntervalMs: number; readonly pingTimeoutMs: number },
    send: (id: number) => void,
    onDead: (cause: YamuxError) => void,
  ) {
    this.#intervalMs = settings.keepAliveIntervalMs
    this.#timeoutMs = settings.pingTimeoutMs
    this.#send = send
    this.#onDead = onDead
    this.#schedule()
  }

  /** The last round trip, in milliseconds. Undefined before the first answer. */
  get rtt(): number | undefined {
    return this.#rtt
  }

  ping(): Promise<number> {
    if (this.#ping !== undefined) return this.#ping.promise
    const ping = { id: this.#nextId, sentAt: performance.now(), ...Promise.withResolvers<number>() }
    this.#nextId = (this.#nextId + 1) % PING_IDS
    this.#ping = ping
    this.#heard = false
    this.#timeout = setTimeout(() => this.#onTimeout(), this.#timeoutMs)
    this.#send(ping.id)
    return ping.promise
  }

  onBytes(): void {
    this.#heard = true
  }

  onPong(id: number): void {
    const ping = this.#ping
    if (ping?.id !== id) return
    this.#settled()
    this.#rtt = performance.now() - ping.sentAt
    ping.resolve(this.#rtt)
  }

  stop(reason: YamuxError): void {
    this.#stopped = true
    clearTimeout(this.#interval)
    const ping = this.#ping
    this.#settled()
    ping?.reject(reason)
  }

  #schedule(): void {
    if (this.#intervalMs > 0 && !this.#stopped)
      this.#interval = setTimeout(() => void this.#beat(), this.#intervalMs)
  }

  async #beat(): Promise<void> {
    try {
      await this.ping()
    } catch (cause) {
      if (this.#stopped) return
      if (!this.#heard) return this.#onDead(cause as YamuxError)
    }
    this.#schedule()
  }

  #onTimeout(): void {
    const ping = this.#ping
    this.#settled()
    ping?.reject(new YamuxError('ping_timeout', `no answer to a ping within ${this.#timeoutMs} ms`))
  }

  #settled(): void {
    clearTimeout(this.#timeout)
    this.#ping = undefined
  }
}
