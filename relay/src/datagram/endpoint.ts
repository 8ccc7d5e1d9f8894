// The QUIC endpoint over the relay's life: opened once, opened anew for a new certificate, and absent where it cannot be.

import type { CertificateRotation } from '../certificates/rotation.ts'
import { ENDPOINT_ATTEMPTS, ENDPOINT_PAUSE_MS } from '../limits.ts'
import type { Logger } from '../log.ts'
import { openQuicEndpoint, type QuicConnection, type QuicEndpoint, type QuicEvents } from './quic.ts'

type Open = typeof openQuicEndpoint

export class TunnelEndpoint {
  readonly #certificates: CertificateRotation
  readonly #accept: (connection: QuicConnection) => QuicEvents
  readonly #log: Logger
  readonly #open: Open
  #endpoint: QuicEndpoint | undefined
  #isMissing = false
  #isClosed = false
  #running: Promise<void> = Promise.resolve()

  constructor(
    certificates: CertificateRotation,
    accept: (connection: QuicConnection) => QuicEvents,
    log: Logger,
    open: Open = openQuicEndpoint,
  ) {
    this.#certificates = certificates
    this.#accept = accept
    this.#log = log
    this.#open = open
  }

  /** Nobody can have a tunnel here: neither can a lease have a UDP port. */
  get isMissing(): boolean {
    return this.#isMissing
  }

  /** Never rejects: a relay without it serves the rest. */
  async listen(port: number): Promise<void> {
    try {
      this.#endpoint = await this.#openAt(port)
    } catch (error) {
      this.#isMissing = true
      this.#log.error({ err: error, port }, 'no datagram tunnels: UDP ports are off, the rest is served')
      return
    }
    // The library reads a certificate once. Tunnels come back by themselves; leases and flows stay.
    this.#certificates.onReplace(() => {
      this.#running = this.#running.then(() => this.#reopen(port))
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
    await this.#endpoint?.close()
  }

  async #reopen(port: number): Promise<void> {
    if (this.#isClosed) return
    await this.#endpoint?.close()
    this.#endpoint = undefined
    for (let attempt = 1; !this.#isClosed; attempt += 1) {
      try {
        this.#endpoint = await this.#openAt(port)
        return
      } catch (error) {
        if (attempt === ENDPOINT_ATTEMPTS) {
          this.#isMissing = true
          this.#log.error({ err: error, port }, 'datagram tunnels are gone: their port cannot be had again')
          return
        }
        await new Promise((resolve) => setTimeout(resolve, ENDPOINT_PAUSE_MS))
      }
    }
  }

  #openAt(port: number): Promise<QuicEndpoint> {
    return this.#open(port, this.#certificates.current, this.#accept)
  }
}
