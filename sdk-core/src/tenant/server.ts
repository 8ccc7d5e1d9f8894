// Serves a site's visitors, with the current certificate, signatures by its key, and the tenant's handler.

import type { Extension } from '@svc/protocol'
import { settledWithin } from '@svc/protocol/timers'
import {
  boundedSigner,
  type CryptoProvider,
  type ProtocolVersion,
  type ServerConfig,
  type SignRequest,
  TicketSealer,
} from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'
import type {
  KeylessCertificate,
  OwnCertificate,
  ServerCertificate,
} from '../certificate/server-certificate.ts'
import type { ShownCertificate } from '../certificate/shown-certificate.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { requestSignature } from '../control/signer.ts'
import { asSvcError, messageOf, SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { explained } from '../explained.ts'
import { HTTP2_LOAD_DEADLINE_MS, SIGN_DEADLINE_MS, TLS_HANDSHAKE_DEADLINE_MS } from '../limits.ts'
import type { LimitedConnection } from './connection-limiter.ts'
import type { EndTls } from './end-tls.ts'
import { HTTP2, loadHttp2, type ServeHttp } from './load-http2.ts'
import { TlsStream } from './tls-stream.ts'
import { type Admit, serveConnection, type TlsConnection } from './visitor-connection.ts'

export interface TlsOptions {
  /**
   * The oldest version of TLS that visitors may speak. `TLSv1.2` takes effect once the site has a certificate of its own;
   * until then, and at a relay that issues none, visitors need TLS 1.3: a signature of TLS 1.2 names no host, so a key that
   * sites share never makes one.
   * @default TLSv1.3
   */
  minVersion?: ProtocolVersion | undefined
  /**
   * Called with the fields of each line of the NSS key log, for tests that decrypt recorded traffic. A holder of them
   * can read everything.
   * @default none
   */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}

/** A visitor's TLS connection, with the binding that names it to `/v1/sign`. */
interface TlsVisitor {
  stream: ByteStream
  binding: Uint8Array
  connection: LimitedConnection
}

/** The handshake that the relay is to sign, and its visitor. */
interface SignatureContext {
  handshake: SignRequest
  binding: Uint8Array
  /** The chain that the site presents to the visitor. */
  chain: readonly Uint8Array[]
}

/** What depends on whose key signs. */
type SigningConfig = Pick<
  ServerConfig,
  'sign' | 'signTls12' | 'hashes' | 'helloRetryRequest' | 'compressedCertificates' | 'tickets'
>

export interface TenantServerOptions {
  client: RelayClient
  keeper: LeaseKeeper
  certificates: ShownCertificate
  fetch: FetchHandler
  allowFields?: readonly string[] | undefined
  /**
   * Offers HTTP/2 to visitors where the certificate names this site only.
   * @default true
   */
  http2?: boolean | undefined
  /**
   * Tells browsers to use https alone for the site's hostnames.
   * @default true
   */
  hsts?: boolean | undefined
  crypto?: CryptoProvider | undefined
  admit?: Admit | undefined
  /** Ends TLS in place of the engine where the site has a certificate of its own. */
  endTls?: EndTls | undefined
  tls: TlsOptions
  onError(error: SvcError): void
}

const HTTP1 = 'http/1.1'
/** Browsers use https alone for a year, for this hostname and not for those below it. */
const HSTS = 'max-age=31536000'
const LOCAL = /\.localhost(?::\d+)?$/
/** The codes of connections that the visitor broke off or left open, of the engine and of Node. */
const LEFT = /^(truncated|handshake_timeout|ECONNRESET)$/
const TLS_LIMITS = { handshakeTimeoutMs: TLS_HANDSHAKE_DEADLINE_MS, signTimeoutMs: SIGN_DEADLINE_MS }

export class TenantServer {
  #options: TenantServerOptions
  /**
   * Seal tickets, with which returning visitors avoid the signature. Those of one way are worth nothing in the other: a
   * browser keeps the certificate of a session that it resumes, and shares its connection among all hosts of that.
   */
  #tickets: Readonly<Record<'keyless' | 'own', TicketSealer>>
  /** Bounds the signatures that run at a time: a flood of visitors costs the relay no more. */
  #boundedSign = boundedSigner((signing: SignatureContext, signal) => this.#sign(signing, signal))
  /** One controller for each visitor's connection. */
  #open = new Set<AbortController>()
  #serveHttp2: ServeHttp | undefined
  #http2Loaded: Promise<void> | undefined
  /** A visitor's handshake succeeded, or the owner was told that the first one failed. */
  #isProven = false
  /** The number of visitors whose handshake failed. */
  failedVisitors = 0

  constructor(options: TenantServerOptions) {
    this.#options = options
    if (options.http2 !== false)
      this.#http2Loaded = loadHttp2().then((serve) => {
        this.#serveHttp2 = serve
      })
    const { crypto } = options
    this.#tickets = {
      keyless: new TicketSealer(crypto && { crypto }),
      own: new TicketSealer(crypto && { crypto }),
    }
  }

  /** Resolves when HTTP/2 can be offered, or when its code does not come in time. */
  async ready(): Promise<void> {
    if (this.#http2Loaded) await settledWithin(this.#http2Loaded, HTTP2_LOAD_DEADLINE_MS)
  }

  /** Serves one visitor. Settles when its connection is over, and never rejects. */
  async serve({ stream, binding, connection }: TlsVisitor, canonicalUrl: string): Promise<void> {
    const { certificates, fetch, allowFields, hsts, onError } = this.#options
    const certificate = certificates.current
    if (certificate === undefined) return stream.abort()
    // A browser sends requests for all hosts of the certificate over one connection (RFC 9113 §9.1.1).
    const serveHttp2 = certificates.namesOnlySite(certificate) ? this.#serveHttp2 : undefined
    const alpn = serveHttp2 ? [HTTP2, HTTP1] : [HTTP1]
    const closing = new AbortController()
    connection.close = () => closing.abort()
    const http: HttpOptions = {
      fetch,
      allowFields,
      closing: closing.signal,
      activity: (activity) => connection.setActivity(activity),
      canonicalUrl,
      // A name below `localhost` is anybody's on this machine, and outlives the site (RFC 6761 §6.3).
      hsts: hsts === false || LOCAL.test(canonicalUrl) ? undefined : HSTS,
      isOwnHost: (host) => this.#isOwnHost(host),
      onError: (error) => onError(asSvcError(error, 'handler_failed', 'a request could not be answered')),
    }
    this.#open.add(closing)
    const { admit } = this.#options
    const tls =
      this.#endNatively(stream, certificate, alpn) ??
      new TlsStream(stream, { ...this.#tlsConfig(certificate, binding), alpn })
    tls.secure.then(
      () => {
        this.#isProven = true
      },
      (error) => this.#visitorFailed(error),
    )
    await serveConnection(tls, http, { serveHttp2, admit, connection })
    this.#open.delete(closing)
  }

  /** Ends idle connections at once, and each other one after its current response. */
  finish(): void {
    for (const closing of this.#open) closing.abort()
  }

  /**
   * Tells the owner when the first handshake failed, and whenever the SDK itself failed. Visitors leave at any time, and a
   * signature that failed has its own error.
   */
  #visitorFailed(error: unknown): void {
    this.failedVisitors += 1
    const { code = '', cause } = error as { code?: string; cause?: unknown }
    const isTheirs = this.#isProven || LEFT.test(code) || cause instanceof SvcError
    if (isTheirs && code !== 'internal_error') return
    this.#isProven = true
    explained('visitor_failed', ['visitorFailed', messageOf(error)], error).then(this.#options.onError)
  }

  /** Returns undefined when the engine has to end TLS: the platform cannot, or the relay has to sign. */
  #endNatively(
    stream: ByteStream,
    { chain, own }: ServerCertificate,
    alpn: readonly string[],
  ): TlsConnection | undefined {
    const { endTls, tls } = this.#options
    if (!own) return undefined
    return endTls?.(stream, {
      chain,
      key: own.key,
      alpn,
      minVersion: tls.minVersion ?? 'TLSv1.3',
      handshakeTimeoutMs: TLS_HANDSHAKE_DEADLINE_MS,
      onSecret: tls.onSecret,
    })
  }

  #tlsConfig(certificate: ServerCertificate, binding: Uint8Array): Omit<ServerConfig, 'alpn'> {
    const { crypto, tls } = this.#options
    return {
      certificateChain: certificate.chain,
      algorithm: certificate.algorithm,
      ...(certificate.own ? this.#signedHere(certificate) : this.#signedByRelay(certificate, binding)),
      limits: TLS_LIMITS,
      ...(crypto && { crypto }),
      onSecret: tls.onSecret,
    }
  }

  #signedHere({ own, compression }: OwnCertificate): SigningConfig {
    const { sign, signTls12 } = own
    const { minVersion } = this.#options.tls
    return {
      sign,
      ...(minVersion === 'TLSv1.2' && { signTls12 }),
      compressedCertificates: compression.forms,
      tickets: this.#tickets.own,
    }
  }

  /** Negotiates only what the relay can sign. */
  #signedByRelay({ chain, compression }: KeylessCertificate, binding: Uint8Array): SigningConfig {
    const { lease } = this.#options.keeper
    const can = (extension: Extension): boolean => lease?.extensions.has(extension) ?? false
    return {
      sign: (handshake, signal) => this.#boundedSign({ handshake, binding, chain }, signal),
      hashes: can('sha384') ? undefined : ['SHA-256'],
      helloRetryRequest: can('hello_retry_request'),
      compressedCertificates: can('certificate_compression') ? compression.forms : undefined,
      tickets: this.#tickets.keyless,
    }
  }

  async #sign({ handshake, binding, chain }: SignatureContext, signal: AbortSignal): Promise<Uint8Array> {
    const { client, keeper } = this.#options
    try {
      const { lease } = keeper
      if (!lease) throw await explained('lease_ended', ['noLease'])
      const { accessToken } = lease
      return await requestSignature(client, handshake, { accessToken, binding }, signal)
    } catch (error) {
      if (!signal.aborted) this.#signatureFailed(asSvcError(error, 'sign_refused', 'no signature'), chain)
      throw error
    }
  }

  /** Refreshes chain and token for the next visitor: they may be out of date. */
  #signatureFailed(error: SvcError, chain: readonly Uint8Array[]): void {
    const { certificates, keeper, onError } = this.#options
    onError(error)
    if (error.code === 'sign_refused') certificates.refreshAfterRefusal(chain)
    if (error.code === 'unauthorized' || error.code === 'lease_not_found') keeper.renewNow()
  }

  #isOwnHost(host: string): boolean {
    const { lease } = this.#options.keeper
    return host !== '' && (host === lease?.hostname || host === lease?.canonicalHostname)
  }
}
