// Serves a site's visitors: TLS with the current certificate, then HTTP with the tenant's handler.

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
import { parseClientHello } from '@svc/tls/messages'
import type { ByteStream } from '../bytes/byte-stream.ts'
import type {
  KeylessCertificate,
  OwnCertificate,
  ServerCertificate,
} from '../certificate/server-certificate.ts'
import type { ShownCertificate } from '../certificate/shown-certificate.ts'
import type { ClientCertificateCheck, ClientCertificateOptions } from '../client-certificates/options.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import { SIGN_DEADLINE_MS } from '../control/limits.ts'
import { loadLazy } from '../control/load-lazy.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { requestSignature } from '../control/signer.ts'
import type { ServedDomains } from '../domains/served-domains.ts'
import { asSvcError, messageOf, SvcError } from '../errors.ts'
import type { FetchHandler, RemoteAddress } from '../exchange/fetch-handler.ts'
import type { HttpOptions } from '../exchange/http-options.ts'
import { explained } from '../explained.ts'
import type { LimitedConnection } from './connection-limiter.ts'
import type { EndTls } from './end-tls.ts'
import { HTTP2, loadHttp2, type ServeHttp } from './load-http2.ts'
import { TlsStream } from './tls-stream.ts'
import { type Admit, serveConnection, type TlsConnection } from './visitor-connection.ts'

/** The time for which `publish` waits for the code of HTTP/2. After that the first visitors get HTTP/1.1. */
const HTTP2_LOAD_DEADLINE_MS = 5_000
/** The deadline of a visitor's TLS handshake, from activation. */
export const TLS_HANDSHAKE_DEADLINE_MS = 15_000

export interface TlsOptions {
  /**
   * Asks visitors for a client certificate, and verifies it. The site then has a certificate of its own, and waits until it
   * does, since the relay does not sign for such a site. Its visitors' sessions are never resumed.
   * @default none: visitors stay anonymous
   */
  clientCertificates?: ClientCertificateOptions | undefined
  /**
   * The lowest TLS version for visitors. `TLSv1.2` takes effect once the site has its own certificate;
   * until then, and at a relay that issues none, visitors need TLS 1.3: a TLS 1.2 signature names no host, so a shared key
   * never makes one.
   * @default TLSv1.3
   */
  minVersion?: ProtocolVersion | undefined
  /**
   * Called with the fields of each line of the NSS key log, for tests that decrypt recorded traffic. Anyone who has them
   * can read everything.
   * @default none
   */
  onSecret?: ((label: string, clientRandom: Uint8Array, secret: Uint8Array) => void) | undefined
}

/** The checked TlsOptions. */
export interface TlsSettings extends Omit<TlsOptions, 'clientCertificates'> {
  clientCertificates?: ClientCertificateCheck | undefined
}

/** A visitor's TLS connection, with the binding that names it to `/v1/sign`. */
interface TlsVisitor {
  stream: ByteStream
  /** Only {@link ServedDomains.greet} sets it. */
  certificate?: undefined
  binding: Uint8Array
  /** Where it comes from, as the relay says. */
  remote?: RemoteAddress | undefined
  connection: LimitedConnection
}

/** The handshake for the relay to sign, and its visitor. */
interface SignatureContext {
  handshake: SignRequest
  binding: Uint8Array
  /** The chain that the site presents to the visitor. */
  chain: readonly Uint8Array[]
}

/** The settings that depend on whose key signs. */
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
  visitorAddress?: boolean | undefined
  /**
   * Offers HTTP/2 to visitors if the certificate names only this site.
   * @default true
   */
  http2?: boolean | undefined
  /**
   * Tells browsers to use only https for the site's hostnames.
   * @default true
   */
  hsts?: boolean | undefined
  /** The site's own domains, each with a certificate of its own. */
  domains?: ServedDomains | undefined
  crypto?: CryptoProvider | undefined
  admit?: Admit | undefined
  /** Terminates TLS instead of the engine when the site has its own certificate. */
  endTls?: EndTls | undefined
  tls: TlsSettings
  onError(error: SvcError): void
}

const HTTP1 = 'http/1.1'
/** Only https for a year, for this hostname and not for those below it. */
const HSTS = 'max-age=31536000'
const LOCAL = /\.local(host)?(:|$)/
/** The error codes, of the engine and of Node, of connections that the visitor aborted or abandoned. */
const LEFT = /^(truncated|handshake_timeout|ECONNRESET)$/
const TLS_LIMITS = { handshakeTimeoutMs: TLS_HANDSHAKE_DEADLINE_MS, signTimeoutMs: SIGN_DEADLINE_MS }

export class TenantServer {
  #options: TenantServerOptions
  /**
   * Seal session tickets, with which returning visitors avoid the signature. Tickets of one kind are invalid for the other: a
   * browser keeps the certificate of a resumed session, and shares its connection among all hosts of that certificate.
   */
  #tickets: Readonly<Record<'keyless' | 'own', TicketSealer>>
  /** Limits concurrent signatures, so that a flood of visitors does not overload the relay. */
  #boundedSign = boundedSigner((signing: SignatureContext, signal) => this.#sign(signing, signal))
  /** One controller for each visitor's connection. */
  #open = new Set<AbortController>()
  #serveHttp2: ServeHttp | undefined
  #http2Loaded: Promise<void> | undefined
  /** True when a visitor's handshake succeeded, or the failure of the first one was reported. */
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
      keyless: new TicketSealer({ crypto }),
      own: new TicketSealer({ crypto }),
    }
  }

  /**
   * Resolves when HTTP/2 can be offered, or when its code does not load in time.
   * @returns the code that reads visitors' addresses, if the relay sends them
   */
  async ready(): Promise<Awaited<ReturnType<typeof loadLazy>> | false | undefined> {
    const late = this.#options.visitorAddress && this.#can('visitor_address') && loadLazy()
    if (this.#http2Loaded) await settledWithin(this.#http2Loaded, HTTP2_LOAD_DEADLINE_MS)
    return late
  }

  /** Serves one visitor. Settles when its connection is over, and never rejects. */
  async serve(visitor: TlsVisitor, canonicalUrl: string): Promise<void> {
    const { certificates, domains, fetch, allowFields, hsts, onError, admit } = this.#options
    const { binding, remote, connection } = visitor
    const greeted = await domains?.greet(visitor.stream, parseClientHello, TlsStream)
    const { stream, certificate = certificates.current } = greeted ?? visitor
    if (!certificate) return stream.abort()
    // A browser may send requests for all hosts of the certificate over one connection (RFC 9113 §9.1.1).
    const isSites = certificate.names.every((name) => this.#isOwnHost(name))
    const serveHttp2 = isSites ? this.#serveHttp2 : undefined
    const alpn = serveHttp2 ? [HTTP2, HTTP1] : [HTTP1]
    const closing = new AbortController()
    connection.close = () => closing.abort()
    const http: HttpOptions = {
      fetch,
      visitor: { remote },
      allowFields,
      closing: closing.signal,
      activity: (activity) => connection.setActivity(activity),
      canonicalUrl,
      // A name below `localhost` belongs to any program of this machine (RFC 6761 §6.3), and one below `.local` to any machine of the
      // network that the browser is in next (RFC 6762 §3): who has it after this site may have no https.
      hsts: hsts === false || LOCAL.test(canonicalUrl) ? undefined : HSTS,
      isOwnHost: (host) => this.#isOwnHost(host),
      onError: (error) => onError(asSvcError(error, 'handler_failed', 'a request could not be answered')),
    }
    this.#open.add(closing)
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

  /** Ends idle connections at once, and the others after their current response. */
  finish(): void {
    for (const closing of this.#open) closing.abort()
  }

  /**
   * Reports the failure of the first handshake, and every failure of the SDK itself. Visitors may leave at any time, and a
   * failed signature has its own error.
   */
  #visitorFailed(error: unknown): void {
    this.failedVisitors += 1
    const { code = '', cause } = error as { code?: string; cause?: unknown }
    const isTheirs = this.#isProven || LEFT.test(code) || cause instanceof SvcError
    if (isTheirs && code !== 'internal_error') return
    this.#isProven = true
    explained('visitor_failed', ['visitorFailed', messageOf(error)], error).then(this.#options.onError)
  }

  /** Returns undefined when the engine must terminate TLS: the platform cannot, or the relay must sign. */
  #endNatively(
    stream: ByteStream,
    { chain, own }: ServerCertificate,
    alpn: readonly string[],
  ): TlsConnection | undefined {
    const { endTls, tls } = this.#options
    if (!own) return undefined
    return endTls?.(stream, {
      ...tls,
      chain,
      key: own.key,
      alpn,
      minVersion: tls.minVersion ?? 'TLSv1.3',
      handshakeTimeoutMs: TLS_HANDSHAKE_DEADLINE_MS,
    })
  }

  #tlsConfig(certificate: ServerCertificate, binding: Uint8Array): Omit<ServerConfig, 'alpn'> {
    const { crypto, tls } = this.#options
    return {
      certificateChain: certificate.chain,
      algorithm: certificate.algorithm,
      ...(certificate.own ? this.#signedHere(certificate) : this.#signedByRelay(certificate, binding)),
      limits: TLS_LIMITS,
      crypto,
      ...tls,
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
    return {
      sign: (handshake, signal) => this.#boundedSign({ handshake, binding, chain }, signal),
      hashes: this.#can('sha384') ? undefined : ['SHA-256'],
      helloRetryRequest: this.#can('hello_retry_request'),
      compressedCertificates: this.#can('certificate_compression') ? compression.forms : undefined,
      tickets: this.#tickets.keyless,
    }
  }

  #can(extension: Extension): boolean | undefined {
    return this.#options.keeper.lease?.extensions.has(extension)
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

  /** Refreshes chain and token for the next visitor, because they may be out of date. */
  #signatureFailed(error: SvcError, chain: readonly Uint8Array[]): void {
    const { certificates, keeper, onError } = this.#options
    onError(error)
    if (error.code === 'sign_refused') certificates.refreshAfterRefusal(chain)
    if (error.code === 'unauthorized' || error.code === 'lease_not_found') keeper.renewNow()
  }

  #isOwnHost(host: string): boolean {
    const { keeper, domains } = this.#options
    const { hostname, canonicalHostname } = keeper.lease ?? {}
    return host !== '' && [hostname, canonicalHostname, ...(domains?.names ?? [])].includes(host)
  }
}
