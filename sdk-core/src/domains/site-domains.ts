// The custom domains of a site: what relays say about them, their certificates, the proofs, and what visitors get.

import { CLIENT_HELLO_DEADLINE_MS, ownershipRecordName, ownershipRecordValue } from '@svc/protocol'
import { ACME_TLS_ALPN } from '@svc/protocol/acme'
import { withTimeout } from '@svc/protocol/timers'
import type { CryptoProvider, ServerConfig } from '@svc/tls'
import type { ByteStream } from '../bytes/byte-stream.ts'
import type { OwnCertificate } from '../certificate/server-certificate.ts'
import type { RelayClient } from '../control/relay-client.ts'
import type { RelayClock } from '../control/relay-clock.ts'
import { messageOf, type SvcError } from '../errors.ts'
import type { TlsConnection } from '../tenant/visitor-connection.ts'
import type { AcmeAuthority } from './authority.ts'
import { CertificateOfDomain } from './certificate-of-domain.ts'
import { type ParseClientHello, readGreeting, refuseName } from './client-hello.ts'
import type { DomainStore } from './domain-store.ts'
import type { DomainCertificate, DomainDns, SiteDomain } from './options.ts'
import { type AskCaa, caaValue, whyUnprotected } from './protection.ts'
import { RelayReports } from './relay-reports.ts'
import type { GrantedLease, GreetedVisitor, ServedDomains, ServeTls } from './served-domains.ts'

/** How often the site looks whether its domains are protected, in milliseconds; and while one is not, since its owner may be at it. */
const PROTECTION_LOOK_MS = 3_600_000
const UNPROTECTED_LOOK_MS = 60_000
/** The deadline of an authority's handshake, in milliseconds. */
const PROOF_DEADLINE_MS = 10_000
const BROUGHT =
  'its certificate was brought, so the site does not know the account that CAA records should name'

export interface SiteDomainsParts {
  names: readonly string[]
  /** The certificates that were brought, by domain. */
  brought: ReadonlyMap<string, OwnCertificate>
  /** The others are ordered here. */
  ordered: { authority: AcmeAuthority; store: DomainStore } | undefined
  /** Undefined when nobody can be asked. */
  askCaa: AskCaa | undefined
  crypto: CryptoProvider | undefined
  /** Called when something that {@link SiteDomains.list} returns has changed. */
  changed(): void
  onError(error: SvcError): void
}

export class SiteDomains implements ServedDomains {
  readonly names: readonly string[]
  readonly #parts: SiteDomainsParts
  readonly #certificates = new Map<string, CertificateOfDomain>()
  readonly #reports: RelayReports
  readonly #unprotected = new Map<string, string | undefined>()
  #lookedAt = Number.NEGATIVE_INFINITY
  #isLooking = false
  /** The relay's clock: a page's own may be wrong. */
  #clock: Pick<RelayClock, 'now'> = { now: Date.now() }
  readonly #run = new AbortController()
  /** The address of the identity, in lower case. Undefined until the site is published. */
  #owner: string | undefined

  constructor(parts: SiteDomainsParts) {
    const { names, brought, ordered, crypto, changed, onError } = parts
    this.names = names
    this.#parts = parts
    this.#reports = new RelayReports(() => this.#reported())
    const now = (): number => this.#clock.now
    if (ordered)
      for (const name of names)
        if (!brought.has(name)) {
          const parts = { ...ordered, crypto, now, changed, onError }
          this.#certificates.set(name, new CertificateOfDomain(name, parts))
        }
  }

  /** @param isOnline whether visitors can connect to the site */
  list(isOnline: boolean): readonly SiteDomain[] {
    return this.names.map((domain) => {
      const [dns, certificate] = [this.#dnsOf(domain), this.#certificateOf(domain)]
      const isServed = dns.state === 'active' && certificate.state === 'valid'
      const unprotected = this.#whyUnprotected(domain)
      const isProtected = unprotected === undefined
      return { domain, dns, certificate, protected: isProtected, unprotected, online: isOnline && isServed }
    })
  }

  ownedBy(address: string): void {
    this.#owner = address.toLowerCase()
  }

  granted(client: RelayClient, lease: GrantedLease): void {
    this.#clock = client.clock
    this.#reports.granted(client, lease, this.names, this.#run.signal)
  }

  async greet(stream: ByteStream, parse: ParseClientHello, server: ServeTls): Promise<GreetedVisitor> {
    const late = (): Error => new Error('the visitor sent no ClientHello in time')
    const {
      serverName = '',
      isChallenge,
      stream: whole,
    } = await withTimeout(readGreeting(stream, parse), CLIENT_HELLO_DEADLINE_MS, late)
    if (!this.names.includes(serverName)) return { stream: whole, certificate: undefined }
    const proof = isChallenge ? await this.#certificates.get(serverName)?.proof() : undefined
    if (proof) await this.#prove(new server(whole, this.#proofConfig(proof)))
    const certificate = isChallenge ? undefined : await this.#certificateFor(serverName)
    if (!certificate && !proof) await refuseName(whole)
    return { stream: whole, certificate: certificate ?? null }
  }

  /** Ends all work, because the site has ended. */
  stop(): void {
    this.#run.abort()
  }

  /** Orders what is due, and looks for CAA records, whenever a relay has said something. */
  #reported(): void {
    const { signal } = this.#run
    const { now } = this.#clock
    for (const [domain, certificate] of this.#certificates)
      void certificate.check(this.#reports.of(domain).state === 'active', now, signal)
    void this.#lookWhenDue(now, signal)
    this.#parts.changed()
  }

  #dnsOf(domain: string): DomainDns {
    const dns = this.#reports.of(domain)
    if (dns.state === 'refused' || this.#owner === undefined) return dns
    const proof = ownershipRecordValue(this.#owner)
    const records: DomainDns['records'][number][] = [
      { type: 'TXT', name: ownershipRecordName(domain), value: proof },
      ...dns.records,
    ]
    const identity = this.#parts.ordered?.authority.identity
    const value = identity && this.#certificates.has(domain) && caaValue(identity)
    if (value) records.push({ type: 'CAA', name: domain, value })
    return { ...dns, records }
  }

  #certificateOf(domain: string): DomainCertificate {
    const { now } = this.#clock
    const ordered = this.#certificates.get(domain)
    if (ordered) return ordered.state(now)
    const expiresAt = this.#parts.brought.get(domain)?.own.notAfter
    const isValid = expiresAt !== undefined && now < expiresAt
    const none = { expiresAt, renewsAt: undefined, retryAt: undefined }
    return isValid
      ? { ...none, state: 'valid', error: undefined }
      : { ...none, state: 'failed', error: 'the certificate that was brought has ended' }
  }

  #whyUnprotected(domain: string): string | undefined {
    if (!this.#certificates.has(domain)) return BROUGHT
    return this.#unprotected.has(domain) ? this.#unprotected.get(domain) : 'the site has not looked yet'
  }

  async #lookWhenDue(now: number, signal: AbortSignal): Promise<void> {
    const unprotected = this.#unprotected
    // Those that were active once, too: the relay's word alone must not keep a domain protected.
    const active = [...this.#certificates.keys()].filter(
      (name) => this.#reports.of(name).state === 'active' || unprotected.has(name),
    )
    const isOpen = active.some((name) => unprotected.get(name) !== undefined)
    const pauseMs = isOpen ? UNPROTECTED_LOOK_MS : PROTECTION_LOOK_MS
    const isDue = now - this.#lookedAt >= pauseMs || now < this.#lookedAt
    const isNew = active.some((name) => !unprotected.has(name))
    if (this.#isLooking || !(isDue || isNew) || active.length === 0) return
    this.#lookedAt = now
    this.#isLooking = true
    for (const domain of active) unprotected.set(domain, await this.#lookAt(domain, signal))
    this.#isLooking = false
    this.#parts.changed()
  }

  /** Resolves with why a domain is not protected, or not known to be. */
  async #lookAt(domain: string, signal: AbortSignal): Promise<string | undefined> {
    const { ordered, askCaa } = this.#parts
    if (!askCaa) return 'a page cannot see CAA records: acme.dnsOverHttps names a resolver that it may ask'
    try {
      return await whyUnprotected(domain, await ordered!.authority.identify(signal), askCaa, signal)
    } catch (error) {
      return `its CAA records are not known: ${messageOf(error)}`
    }
  }

  async #certificateFor(domain: string): Promise<OwnCertificate | undefined> {
    return this.#parts.brought.get(domain) ?? this.#certificates.get(domain)?.at(this.#clock.now)
  }

  #proofConfig({ chain, algorithm, own }: OwnCertificate): ServerConfig {
    const limits = { handshakeTimeoutMs: PROOF_DEADLINE_MS }
    const { crypto } = this.#parts
    return { certificateChain: chain, algorithm, sign: own.sign, alpn: [ACME_TLS_ALPN], limits, crypto }
  }

  /** Ends the connection of an authority: the proof is complete with the handshake (RFC 8737 §3). Never rejects. */
  async #prove(tls: TlsConnection): Promise<void> {
    try {
      await tls.secure
      await tls.end()
    } catch (error) {
      tls.abort(error)
    }
  }
}
