// A sans-I/O TLS server: bytes in; bytes, plaintext and events out.

import { type ConnectionInfo, type ServerConfig, type Settings, settingsOf } from './config.ts'
import { isPromise, type MaybePromise } from './crypto/provider.ts'
import { Secrets } from './crypto/secrets.ts'
import { asTlsError, TlsError, violation } from './errors.ts'
import { Channel, truncated } from './handshake/channel.ts'
import type { HandshakeResult } from './handshake/handshake-result.ts'
import { EMPTY_RECORDS_MAX, HANDSHAKE_BACKLOG_BYTES } from './limits.ts'
import { encodeAlert } from './messages/alert.ts'
import { ALERT, CONTENT_TYPE } from './messages/constants.ts'
import { Inbound } from './record/inbound.ts'
import { Outbound } from './record/outbound.ts'
import type { Plaintext } from './record/protection.ts'
import { accept } from './version-negotiation.ts'

/**
 * ServerEvents are called in order. They may call the server. An error that they throw closes the connection with
 * internal_error.
 */
export interface ServerEvents {
  /**
   * Called with bytes for the transport, often few, so the transport should coalesce those of one turn. The callee owns them.
   */
  send(bytes: Uint8Array): void
  /** Called when the handshake is complete. */
  secure(info: ConnectionInfo): void
  /** Called with plaintext, which the callee owns. */
  data(bytes: Uint8Array): void
  /** Called after the peer's close_notify: no data follows. */
  end(): void
  /** Called once when both directions are over, with the error unless both sides sent close_notify. */
  close(error?: TlsError): void
}

/** The errors after which the peer cannot receive an alert. */
const SILENT_CODES: readonly string[] = ['alert_received', 'truncated']

/**
 * TlsServer is the server's side of one TLS connection, without I/O: it gets the client's bytes, and emits the bytes
 * to send as events.
 */
export class TlsServer {
  readonly #settings: Settings
  readonly #events: ServerEvents
  readonly #inbound = new Inbound()
  readonly #outbound: Outbound
  readonly #channel: Channel
  readonly #secrets = new Secrets()
  readonly #leaving = new AbortController()
  readonly #deadline: ReturnType<typeof setTimeout>
  #state: 'handshake' | 'open' | 'closed' = 'handshake'
  #handshakeResult: HandshakeResult | undefined
  /** True until the peer's close_notify. */
  #readable = true
  /** True until this side's close_notify. */
  #writable = true
  #transportEnded = false
  #emptyRecords = 0
  #inPump = false
  #pumping: Promise<void> | undefined

  /** @throws TlsError `invalid_config` */
  constructor(config: ServerConfig, events: ServerEvents) {
    this.#settings = settingsOf(config)
    this.#events = events
    const { recordsPerKey, handshakeTimeoutMs } = this.#settings.limits
    this.#outbound = new Outbound((bytes) => events.send(bytes), recordsPerKey)
    this.#channel = new Channel(this.#inbound, this.#outbound, () => this.#flush())
    this.#deadline = setTimeout(() => this.#late(handshakeTimeoutMs), handshakeTimeoutMs)
    void this.#run()
  }

  /**
   * Processes bytes from the transport, in any chunking. It keeps them, so the caller must not change them.
   * @returns a promise while they are being processed; await it before reading more, so that memory stays bounded
   */
  receive(bytes: Uint8Array): MaybePromise<void> {
    if (this.#state === 'closed' || !this.#readable) return
    try {
      if (!this.#inbound.push(bytes)) return
    } catch (error) {
      return this.#fail(error)
    }
    if (this.#state === 'open') return this.#pump()
    this.#channel.arrived()
    // A little input must not stop the transport: by reading, the caller notices when the client leaves.
    if (this.#inbound.backlog > HANDSHAKE_BACKLOG_BYTES) return this.#channel.idle()
  }

  /** Called at the transport's end. Without a close_notify before it, the connection closes with `truncated`. */
  receiveEnd(): void {
    if (this.#state === 'closed' || !this.#readable) return
    this.#transportEnded = true
    if (this.#state === 'open') void this.#pump()
    else {
      this.#leaving.abort(truncated())
      this.#channel.end()
    }
  }

  /**
   * Sends application data. The caller must not change it until the promise settles.
   * @returns a promise while records are being sealed; await it before writing more
   * @throws TlsError `not_ready` before `secure`, `closed` after `end` or `close`
   */
  write(plaintext: Uint8Array): MaybePromise<void> {
    if (this.#state === 'handshake') throw new TlsError('not_ready', 'the handshake is not complete')
    if (this.#state === 'closed' || !this.#writable) throw new TlsError('closed', 'the connection is closed')
    if (plaintext.length > 0) this.#outbound.queue(CONTENT_TYPE.application_data, plaintext)
    return this.#flush()
  }

  /** Sends close_notify after everything written. The peer may still send (RFC 8446 §6.1). */
  end(): MaybePromise<void> {
    if (this.#state === 'handshake') return this.abort(ALERT.user_canceled)
    if (this.#state === 'closed' || !this.#writable) return
    this.#writable = false
    this.#outbound.queue(CONTENT_TYPE.alert, encodeAlert(ALERT.close_notify))
    if (!this.#readable) this.#close()
    return this.#flush()
  }

  /**
   * Sends a fatal alert, and calls `close` with an error of code `aborted`.
   * @param alert the alert's description
   * @default internal_error
   */
  abort(alert: number = ALERT.internal_error): void {
    this.#fail(new TlsError('aborted', 'the connection was aborted', { alert }))
  }

  /**
   * Exports keying material: RFC 8446 §7.5, where no context is the same as an empty one; for TLS 1.2 RFC 5705 §4, where it
   * is not.
   * @param length bytes
   * @throws TlsError `not_ready` before `secure` and after `close`; `no_exporter` in TLS 1.2 without an extended master
   *   secret, or with a label that TLS 1.2 itself uses
   */
  exportKeyingMaterial(label: string, context: Uint8Array | undefined, length: number): Uint8Array {
    if (this.#handshakeResult === undefined) throw new TlsError('not_ready', 'there is nothing to export')
    const { exporter } = this.#handshakeResult
    if (exporter === undefined) throw new TlsError('no_exporter', 'there is no extended master secret')
    return exporter.export(label, context, length)
  }

  async #run(): Promise<void> {
    try {
      const result = await accept(this.#channel, this.#settings, this.#secrets, this.#leaving.signal)
      if (this.#state === 'closed') return
      this.#open(result)
      await this.#pump()
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#channel.close()
    }
  }

  /** Fails a handshake that took too long because of the peer, or because of this side's cryptography. */
  #late(ms: number): void {
    const text = `no handshake in ${ms} ms`
    const isTheirs = this.#channel.isWaiting
    this.#fail(
      isTheirs
        ? new TlsError('handshake_timeout', text, { alert: ALERT.handshake_failure })
        : violation('internal_error', `${text}: cryptography of this side has not ended`),
    )
  }

  #open(result: HandshakeResult): void {
    clearTimeout(this.#deadline)
    this.#state = 'open'
    this.#handshakeResult = result
    this.#flush()
    this.#events.secure(result.info)
  }

  /**
   * Processes the received bytes. Only one pump runs: an event that calls `receive` is served by the loop that it
   * came from.
   */
  #pump(): MaybePromise<void> {
    if (this.#inPump || this.#pumping !== undefined) return this.#pumping
    this.#inPump = true
    try {
      while (this.#receiving) {
        const plaintext = this.#inbound.next()
        if (plaintext === undefined) return this.#starved()
        if (isPromise(plaintext)) {
          this.#pumping = this.#pumpFrom(plaintext)
          return this.#pumping
        }
        this.#accept(plaintext)
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#inPump = false
    }
  }

  async #pumpFrom(first: Promise<Plaintext | undefined>): Promise<void> {
    try {
      let next: MaybePromise<Plaintext | undefined> = first
      while (next !== undefined && this.#receiving) {
        const plaintext: Plaintext | undefined = await next
        if (plaintext !== undefined && this.#receiving) this.#accept(plaintext)
        next = this.#inbound.next()
      }
      // Nothing is awaited from here on, so a later push starts a new pump.
      this.#starved()
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#pumping = undefined
    }
  }

  get #receiving(): boolean {
    return this.#state === 'open' && this.#readable
  }

  #starved(): void {
    if (this.#transportEnded && this.#receiving) this.#fail(truncated())
  }

  #accept({ type, content }: Plaintext): void {
    if (type === CONTENT_TYPE.handshake) {
      this.#handshakeResult!.postHandshake.accept(content)
      this.#flush()
      return
    }
    this.#handshakeResult!.postHandshake.acceptOther()
    if (type === CONTENT_TYPE.application_data) this.#acceptData(content)
    else this.#acceptAlert(content)
  }

  #acceptData(content: Uint8Array): void {
    if (content.length === 0) {
      this.#emptyRecords++
      if (this.#emptyRecords > EMPTY_RECORDS_MAX)
        throw violation('unexpected_message', 'too many empty records')
      return
    }
    this.#emptyRecords = 0
    this.#handshakeResult!.postHandshake.dataReceived()
    this.#events.data(content)
  }

  #acceptAlert(content: Uint8Array): void {
    if (!this.#channel.alerts.isCloseNotify(content)) return
    // "Any data received after a closure alert has been received MUST be ignored" (§6.1).
    this.#readable = false
    this.#events.end()
    // RFC 5246 §7.2.1 has no half-closed connections: "close down the connection immediately, discarding any pending
    // writes".
    if (this.#handshakeResult?.info.version === 'TLSv1.2' && this.#writable) {
      this.#outbound.clear()
      void this.end()
    }
    if (!this.#writable) this.#close()
  }

  #flush(): MaybePromise<void> {
    try {
      const flushing = this.#outbound.flush()
      return isPromise(flushing) ? flushing.catch((error: unknown) => this.#fail(error)) : undefined
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Sends an alert, if the peer may still receive it, and nothing after it (§6.2). */
  #fail(reason: unknown): void {
    if (this.#state === 'closed') return
    const error = asTlsError(reason)
    this.#outbound.clear()
    if (this.#writable && error.alert !== undefined && !SILENT_CODES.includes(error.code))
      this.#outbound.queue(CONTENT_TYPE.alert, encodeAlert(error.alert))
    this.#close(error)
  }

  /** Closes, and calls `close` once everything queued was sent. */
  #close(error?: TlsError): void {
    if (this.#state === 'closed') return
    clearTimeout(this.#deadline)
    this.#state = 'closed'
    const reason = error ?? new TlsError('closed', 'the connection is closed')
    this.#leaving.abort(reason)
    this.#inbound.stop(reason)
    this.#channel.close(reason)
    this.#outbound.finish()
    const closed = () => {
      this.#secrets.erase()
      this.#handshakeResult = undefined
      this.#events.close(error)
    }
    const flushing = attempt(() => this.#outbound.flush())
    if (isPromise(flushing)) flushing.then(closed, closed)
    else closed()
  }
}

/** Flushes, and ignores errors, because the transport may already be gone. */
function attempt(flush: () => MaybePromise<void>): MaybePromise<void> {
  try {
    return flush()
  } catch {
    return undefined
  }
}
