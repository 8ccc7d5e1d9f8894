// Serves a site's visitors: each with the certificate of now, signatures from the relay, and the site's own handler.

import { type ServerConfig, TicketKeeper } from '@svc/tls'
import type { Activation } from '../carrier/reverse-stream.ts'
import type { RelayClient } from '../control/client.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import { requestSignature, type Transcript } from '../control/signer.ts'
import { asSvcError, SvcError } from '../errors.ts'
import type { FetchHandler, HttpOptions } from '../http/connection.ts'
import { SIGN_DEADLINE_MS, TLS_HANDSHAKE_DEADLINE_MS } from '../limits.ts'
import type { CertificateSource } from './certificate.ts'
import { serveConnection } from './connection.ts'

/** For tests that decrypt recorded traffic (the NSS key log's fields). Whoever has a secret reads everything. */
export type OnSecret = (label: string, clientRandom: Uint8Array, secret: Uint8Array) => void

interface TenantServerOptions {
  client: RelayClient
  keeper: LeaseKeeper
  certificates: CertificateSource
  fetch: FetchHandler
  onSecret: OnSecret | undefined
  onError(error: SvcError): void
}

/** Browsers ask for h2 as well; HTTP/1.1 is what this SDK speaks. */
const ALPN = ['http/1.1']
const TLS_LIMITS = { handshakeTimeoutMs: TLS_HANDSHAKE_DEADLINE_MS, signTimeoutMs: SIGN_DEADLINE_MS }

export class TenantServer {
  #options: TenantServerOptions
  /** Spare returning visitors the round trip to the signer. */
  #tickets = new TicketKeeper()

  constructor(options: TenantServerOptions) {
    this.#options = options
  }

  /** Settles when the visitor's connection is over; never rejects. */
  serve({ stream, binding }: Activation, canonicalUrl: string): Promise<void> {
    const { certificates, fetch, onSecret, onError } = this.#options
    const { chain, algorithm } = certificates.current
    const tenant: ServerConfig = {
      certificateChain: chain,
      algorithm,
      sign: (transcript, signal) => this.#sign(transcript, binding, signal),
      alpn: ALPN,
      tickets: this.#tickets,
      limits: TLS_LIMITS,
      ...(onSecret && { onSecret }),
    }
    const http: HttpOptions = {
      fetch,
      canonicalUrl,
      isOwnHost: (host) => this.#isOwnHost(host),
      onError: (error) => onError(asSvcError(error, 'handler_failed', 'a request could not be answered')),
    }
    return serveConnection(stream, tenant, http)
  }

  async #sign(transcript: Transcript, binding: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const { client, keeper } = this.#options
    try {
      const { lease, relayNow } = keeper
      if (!lease) throw new SvcError('lease_ended', 'there is no lease to sign with')
      return await requestSignature(
        client,
        transcript,
        { accessToken: lease.accessToken, binding, relayNow },
        signal,
      )
    } catch (error) {
      if (!signal.aborted) this.#signatureFailed(asSvcError(error, 'sign_refused', 'no signature'))
      throw error
    }
  }

  /** Our chain or our token may be out of date: refresh them for the next visitor. */
  #signatureFailed(error: SvcError): void {
    const { certificates, keeper, onError } = this.#options
    onError(error)
    certificates.refreshAfterRefusal()
    if (error.code === 'unauthorized' || error.code === 'lease_not_found') keeper.renewNow()
  }

  #isOwnHost(host: string): boolean {
    const { lease } = this.#options.keeper
    return host !== '' && (host === lease?.hostname || host === lease?.canonicalHostname)
  }
}
