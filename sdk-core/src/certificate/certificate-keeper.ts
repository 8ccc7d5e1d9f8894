// Gets the site's own certificate and renews it, in the background. Until then visitors get the relay's.

import { HEADER, PATH, type SiteCertificateRequest } from '@svc/protocol'
import { backoffMs, jittered } from '@svc/protocol/timers'
import type { CryptoProvider } from '@svc/tls'
import { toBase64 } from '../bytes/base64.ts'
import { requireRecord, requireText } from '../control/json-checks.ts'
import type { Registration } from '../control/lease.ts'
import type { LeaseKeeper } from '../control/lease-keeper.ts'
import { hostnamesOf } from '../control/registration.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { messageOf, SvcError } from '../errors.ts'
import { parsePem } from './certificate-chain.ts'
import { makeCertificateRequest } from './certificate-request.ts'
import { checkedCertificate, hasNames, isDue, isOfFormerAuthority } from './check-certificate.ts'
import { CERTIFICATE_RETRY_FIRST_MS, CERTIFICATE_RETRY_MAX_MS, CERTIFICATE_WAIT_MAX_MS } from './limits.ts'
import type { KeylessCertificate, OwnCertificate } from './server-certificate.ts'
import type { SiteKeyStore, SiteName, StoredSiteKey } from './site-key.ts'

/** The certificates as DER, leaf first; or the milliseconds after which the SDK asks again. */
type CertificateAnswer = { chain: Uint8Array[] } | { retryAfterMs: number }

/** PEM is ASCII. `RelayClient` has bounded the size. */
const PEM = /^[\x20-\x7e\r\n]+$/

export interface CertificateKeeperParts {
  client: RelayClient
  keeper: LeaseKeeper
  site: SiteName
  store: SiteKeyStore
  crypto: CryptoProvider | undefined
  /** The relay's certificate: `keyless` is undefined when the relay has none for sites, `fallback` when the site may not present it. */
  certificates: { readonly [Name in 'keyless' | 'fallback']: KeylessCertificate | undefined }
  /** Shows a certificate to the next visitors. */
  use(certificate: OwnCertificate): void
  /**
   * Called when the site has to wait longer.
   * @param until the time of the next attempt after a failure, in milliseconds since the epoch; undefined while the relay works on it
   */
  waits(until: number | undefined): void
  onError(error: SvcError): void
}

export class CertificateKeeper {
  #parts: CertificateKeeperParts
  #stored: StoredSiteKey | undefined
  #current: OwnCertificate | undefined
  #checking: Promise<void> | undefined
  /** The SDK does not ask the relay before this time of `performance.now()`. */
  #notBefore = 0
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #run = new AbortController()

  constructor(parts: CertificateKeeperParts) {
    this.#parts = parts
  }

  /**
   * Requests a certificate when one is due. The site calls this when it is online and at each renewal of its lease, so that
   * nothing depends on a timer that runs for months.
   */
  check(): void {
    if (this.#run.signal.aborted) {
      this.#run = new AbortController()
      // The aborted run changes nothing any more.
      this.#checking = undefined
      // A wait that stop() ended continues: the SDK must not ask the relay before its end.
      const leftMs = this.#notBefore - performance.now()
      if (leftMs > 0) this.#again(leftMs)
    }
    const { signal } = this.#run
    this.#checking ??= this.#check(signal)
      .catch((error) => {
        if (!signal.aborted) this.#failed(error)
      })
      .finally(() => {
        if (!signal.aborted) this.#checking = undefined
      })
  }

  /** Stops the current attempt. {@link check} starts again. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#run.abort()
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { lease } = this.#parts.keeper
    if (!lease) return
    const stored = await this.#load(lease)
    if (performance.now() < this.#notBefore || !this.#needsOne(lease) || signal.aborted) return
    await this.#ask(stored, lease, signal)
  }

  /** Loads the key once, and uses the chain that was stored with it, if that still fits. */
  async #load(lease: Registration): Promise<StoredSiteKey> {
    if (this.#stored) return this.#stored
    const { store, site } = this.#parts
    const stored = await store.load(site)
    this.#stored = stored
    // The next chain replaces one that does not fit.
    const kept = stored.chain && (await this.#checked(stored.chain, stored, lease).catch(() => undefined))
    if (kept && !this.#isFormer(kept)) this.#use(kept)
    return stored
  }

  #needsOne(lease: Registration): boolean {
    const current = this.#current
    if (!current || !hasNames(current.names, hostnamesOf(lease))) return true
    return isDue(current, this.#parts.client.clock.now) || this.#isFormer(current)
  }

  #isFormer(certificate: OwnCertificate): boolean {
    const { keyless } = this.#parts.certificates
    return keyless !== undefined && isOfFormerAuthority(certificate, keyless.chain[0]!)
  }

  async #ask(stored: StoredSiteKey, lease: Registration, signal: AbortSignal): Promise<void> {
    const { client } = this.#parts
    const csr = await makeCertificateRequest(stored.key, hostnamesOf(lease))
    const answer = await askForCertificate(client, lease.accessToken, csr, signal)
    if ('retryAfterMs' in answer) {
      this.#again(answer.retryAfterMs)
      this.#parts.waits(undefined)
      return
    }
    const certificate = await this.#checked(answer.chain, stored, lease)
    if (signal.aborted) return
    this.#failures = 0
    try {
      // The chain is stored before it is used, so that a page that is reloaded after the first visitor has it.
      await stored.save(certificate.chain, certificate.own.notAfter)
    } finally {
      this.#use(certificate)
    }
  }

  #checked(
    chain: readonly Uint8Array[],
    { key }: StoredSiteKey,
    lease: Registration,
  ): Promise<OwnCertificate> {
    const { client, crypto } = this.#parts
    return checkedCertificate(chain, { key, names: hostnamesOf(lease), now: client.clock.now, crypto })
  }

  #use(certificate: OwnCertificate): void {
    this.#current = certificate
    this.#parts.use(certificate)
  }

  #failed(cause: unknown): void {
    const step = backoffMs(this.#failures++, CERTIFICATE_RETRY_FIRST_MS, CERTIFICATE_RETRY_MAX_MS)
    const asked = (cause instanceof SvcError && cause.retryAfterMs) || 0
    const ms = Math.max(asked, jittered(step))
    this.#again(ms)
    this.#parts.waits(Date.now() + ms)
    // The operator issues no own certificate to this site. That is no error while the relay's certificate serves it.
    if (cause instanceof SvcError && cause.code === 'lease_rejected' && this.#parts.certificates.fallback)
      return
    const message = `the site got no new certificate of its own: ${messageOf(cause)}`
    this.#parts.onError(new SvcError('certificate_unavailable', message, { cause }))
  }

  #again(ms: number): void {
    clearTimeout(this.#timer)
    this.#notBefore = performance.now() + ms
    this.#timer = setTimeout(() => {
      // A timer may fire slightly early.
      this.#notBefore = 0
      this.check()
    }, ms)
  }
}

/**
 * Sends a request.
 * @param csr PKCS #10, DER
 * @throws SvcError
 */
async function askForCertificate(
  client: RelayClient,
  accessToken: string,
  csr: Uint8Array,
  signal: AbortSignal,
): Promise<CertificateAnswer> {
  const body: SiteCertificateRequest = { csr: toBase64(csr) }
  const headers = { [HEADER.accessToken]: accessToken }
  const answer = requireRecord(
    await client.call(PATH.siteCertificate, { body, headers, signal }),
    'certificate',
  )
  const { retry_after: seconds } = answer
  if (seconds === undefined) return { chain: parsePem(requireText(answer, 'chain', PEM)) }
  if (typeof seconds !== 'number' || !(seconds > 0))
    throw new SvcError('unexpected_answer', 'retry_after is not a number of seconds')
  return { retryAfterMs: Math.min(seconds * 1000, CERTIFICATE_WAIT_MAX_MS) }
}
