// Keeps the relay's QUIC endpoint open: reopens it for a new certificate or when its process has ended. The relay runs
// without it if that fails.

import type { QuicCertificatePair, QuicCertificates } from '../../core/certificates/quic-certificate.ts'
import { RestartBackoff } from '../../core/config/restart-backoff.ts'
import type { Logger } from '../../core/log/log.ts'
import {
  ENDPOINT_ATTEMPTS,
  ENDPOINT_FIRST_ATTEMPTS,
  ENDPOINT_RETRY_MS,
  ENDPOINT_SLOW_RETRY_MS,
} from './limits.ts'
import type { QuicEndpoint, QuicEvents, TunnelConnection } from './quic.ts'

type Accept = (connection: TunnelConnection) => QuicEvents

export interface SupervisedEndpoint extends QuicEndpoint {
  /** Resolves with the cause when the endpoint has ended, also after `close`. */
  readonly ended: Promise<string>
}

type Open = (port: number, certificate: QuicCertificatePair, accept: Accept) => Promise<SupervisedEndpoint>

export class DatagramEndpoint {
  readonly #certificates: Pick<QuicCertificates, 'current' | 'onReplace'>
  readonly #accept: Accept
  readonly #log: Logger
  readonly #open: Open
  readonly #restartBackoff = new RestartBackoff()
  #isClosed = false
  /** Ends a delay early. */
  #cancelDelay = (): void => {}
  #endpoint: SupervisedEndpoint | undefined
  #isWanted = false
  #isMissing = false
  #failures = 0
  #running: Promise<void> = Promise.resolve()

  constructor(
    certificates: Pick<QuicCertificates, 'current' | 'onReplace'>,
    accept: Accept,
    log: Logger,
    open: Open,
  ) {
    this.#certificates = certificates
    this.#accept = accept
    this.#log = log
    this.#open = open
  }

  /** Whether there can be no tunnels, so that no lease can have a UDP port. */
  get isMissing(): boolean {
    return this.#isMissing
  }

  /** Whether tunnels can connect now. */
  get isUp(): boolean {
    return this.#endpoint !== undefined
  }

  /** How often the endpoint ended by itself. */
  get failures(): number {
    return this.#failures
  }

  /** Messages for the relay's health check. */
  get problems(): string[] {
    return this.#isWanted && !this.isUp ? ['datagram tunnels are down: UDP ports reach no site'] : []
  }

  /** Opens the endpoint. Never rejects, since a relay without it serves everything else. */
  async listen(port: number): Promise<void> {
    try {
      await this.#openFirst(port)
    } catch (error) {
      this.#isWanted = true
      this.#isMissing = true
      this.#log.error({ err: error, port }, 'no datagram tunnels: UDP ports are off, the rest is served')
      return
    }
    this.#isWanted = true
    // The library reads a certificate once. SDKs open their tunnels again by themselves; leases and flows stay.
    this.#certificates.onReplace(() => this.#enqueue(() => this.#reopen(port)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelDelay()
    await this.#running
    await this.#detach()?.close()
  }

  /** Runs tasks one after the other. */
  #enqueue(task: () => Promise<void>): void {
    this.#running = this.#running.then(task)
  }

  /** Retries for a short time, since the QUIC process of a previous relay ends a moment after that relay. */
  async #openFirst(port: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#openAt(port)
        return
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'EADDRINUSE' || attempt === ENDPOINT_FIRST_ATTEMPTS) throw error
        await this.#delay(ENDPOINT_RETRY_MS)
      }
    }
  }

  async #reopen(port: number): Promise<void> {
    await this.#detach()?.close()
    for (let attempt = 1; !this.#isClosed; attempt += 1) {
      try {
        await this.#openAt(port)
        if (this.#isMissing) this.#log.info({ port }, 'datagram tunnels are back')
        this.#isMissing = false
        return
      } catch (error) {
        if (attempt === ENDPOINT_ATTEMPTS) {
          this.#isMissing = true
          this.#log.error(
            { err: error, port },
            'datagram tunnels are down: their endpoint cannot be opened again',
          )
        }
        await this.#delay(attempt < ENDPOINT_ATTEMPTS ? ENDPOINT_RETRY_MS : ENDPOINT_SLOW_RETRY_MS)
      }
    }
  }

  async #openAt(port: number): Promise<void> {
    const certificate = await this.#certificates.current()
    if (certificate.isShared)
      this.#log.warn(
        'the QUIC process holds the key of all sites: quic-fullchain.pem and quic-privatekey.pem would give it its own',
      )
    const endpoint = await this.#open(port, certificate, this.#accept)
    const since = performance.now()
    this.#endpoint = endpoint
    void endpoint.ended.then((cause) => {
      if (this.#endpoint === endpoint) this.#onEnd(port, cause, performance.now() - since)
    })
  }

  #onEnd(port: number, cause: string, livedMs: number): void {
    this.#endpoint = undefined
    if (this.#isClosed) return
    this.#failures += 1
    const pauseMs = this.#restartBackoff.after(livedMs)
    this.#log.error(
      { cause, pauseMs },
      'the QUIC process ended: datagram tunnels are closed, it is started again',
    )
    this.#enqueue(async () => {
      await this.#delay(pauseMs)
      // A new certificate may have opened it already.
      if (this.#endpoint === undefined) await this.#reopen(port)
    })
  }

  /** Detaches the endpoint, so that its end does not count as a failure. */
  #detach(): SupervisedEndpoint | undefined {
    const endpoint = this.#endpoint
    this.#endpoint = undefined
    return endpoint
  }

  /** Waits, but not beyond the relay's close. */
  async #delay(ms: number): Promise<void> {
    if (this.#isClosed) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#cancelDelay = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
