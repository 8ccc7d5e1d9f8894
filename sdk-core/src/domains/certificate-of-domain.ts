// Keeps the certificate of one custom domain: loads it, orders the first one, renews it, and remembers what failed.

import { usualRenewalAt } from '@svc/protocol/acme'
import { backoffMs, jittered } from '@svc/protocol/timers'
import type { CryptoProvider } from '@svc/tls'
import { acmeCertificateId } from '@svc/tls/der'
import {
  BACKOFF_FIRST_MS,
  BACKOFF_MAX_MS,
  LIMITS,
  type PublishedLimit,
  RENEWAL_ASK_MS,
} from '../acme/limits.ts'
import { errorOfOrder } from '../acme/problem.ts'
import { spend, timesOf, waitMs } from '../acme/published-limits.ts'
import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { checkedCertificate, ownCertificate, readLeaf } from '../certificate/check-certificate.ts'
import type { OwnCertificate } from '../certificate/server-certificate.ts'
import { parseJson } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import type { AcmeAuthority } from './authority.ts'
import type { DomainEntry, DomainStore } from './domain-store.ts'
import type { DomainCertificate } from './options.ts'

/** The text of a domain's entry. Times are in milliseconds since the epoch. */
interface Stored {
  /** The chain, each certificate as base64 of its DER, leaf first. */
  chain: string[]
  /** What proves the domain to an authority, as base64 of its DER. Undefined while nothing is ordered. */
  proof: string | undefined
  /** When certificates were ordered, and when the domain could not be validated. */
  certificates: number[]
  failures: number[]
  /** The failed orders in a row, and the earliest time of the next one. */
  failed: number
  notBefore: number
  error: string | undefined
}

export interface CertificateParts {
  authority: AcmeAuthority
  store: DomainStore
  crypto: CryptoProvider | undefined
  /** Called when the state changed. */
  changed(): void
  /** Returns the relay's time, in milliseconds since the epoch. */
  now(): number
  onError(error: SvcError): void
}

/** The arguments of the next check. */
interface Wanted {
  isReachable: boolean
  now: number
}

const NOTHING: Stored = {
  chain: [],
  proof: undefined,
  certificates: [],
  failures: [],
  failed: 0,
  notBefore: 0,
  error: undefined,
}
/** A renewal is up to this share of the lifetime earlier than the usual time, at random. */
const EARLIER_SHARE = 0.05
/** The relay's clock may be this many milliseconds behind that of the authority. */
const CLOCK_SKEW_MS = 60_000

export class CertificateOfDomain {
  readonly #domain: string
  readonly #parts: CertificateParts
  #first: Promise<unknown> | undefined
  #stored = NOTHING
  /** The text of which `#stored` was read, or that was made of it. */
  #text: string | undefined
  #current: OwnCertificate | undefined
  #isOrdering = false
  /** The times of orders, by `performance.now()`. */
  #attempts: number[] = []
  #renewsAt: number | undefined
  /** The time of the last question for renewal information. */
  #askedAt = Number.NEGATIVE_INFINITY
  #isChecking = false
  #wanted: Wanted | undefined

  constructor(domain: string, parts: CertificateParts) {
    this.#domain = domain
    this.#parts = parts
  }

  /** Resolves with the certificate to show at `now`, once what is stored was read. */
  async at(now: number): Promise<OwnCertificate | undefined> {
    await this.#loadOnce(now).catch(() => {})
    const current = this.#current
    return current && now < current.own.notAfter ? current : undefined
  }

  /** Resolves with what to show to an authority. It is read: another page or process may be ordering. */
  async proof(): Promise<OwnCertificate | undefined> {
    const entry = await this.#open().catch(() => undefined)
    const der = fromBase64(readStored(entry?.text).proof ?? '')
    return entry && der?.length
      ? ownCertificate([der], entry.key, readLeaf([der]), this.#parts.crypto)
      : undefined
  }

  state(now: number): DomainCertificate {
    const expiresAt = this.#current?.own.notAfter
    const isValid = expiresAt !== undefined && now < expiresAt
    const { error, notBefore } = this.#stored
    const without = this.#isOrdering ? 'ordering' : error === undefined ? 'missing' : 'failed'
    return {
      state: isValid ? 'valid' : without,
      expiresAt,
      renewsAt: this.#renewsAt,
      error,
      retryAt: error === undefined ? undefined : notBefore,
    }
  }

  /**
   * Orders a certificate when one is due. Called often, so that nothing depends on a timer that runs for weeks.
   * @param isReachable whether the authority would reach the site as the domain
   * @param now in milliseconds since the epoch
   */
  async check(isReachable: boolean, now: number, signal: AbortSignal): Promise<void> {
    this.#wanted = { isReachable, now }
    if (this.#isChecking) return
    this.#isChecking = true
    // What changed during a check may call for the next one.
    for (let wanted: Wanted | undefined = this.#wanted; wanted && !signal.aborted; wanted = this.#wanted) {
      this.#wanted = undefined
      await this.#check(wanted.isReachable, wanted.now, signal).catch((error) => {
        if (!signal.aborted) this.#failedWithoutStore(error, wanted.now)
      })
    }
    this.#isChecking = false
  }

  async #check(isReachable: boolean, now: number, signal: AbortSignal): Promise<void> {
    await this.#loadOnce(now)
    if (!isReachable || !(await this.#mayOrder(now, signal))) return
    await this.#parts.authority.alone(() => this.#orderIfDue(signal), signal)
  }

  /** Another page or process may have ordered it while this one waited. */
  async #orderIfDue(signal: AbortSignal): Promise<void> {
    const now = this.#parts.now()
    const entry = await this.#load(now)
    if (!(await this.#mayOrder(now, signal))) return
    const obstacle = await this.#obstacle(now, signal)
    if (obstacle) return this.#postpone(entry, obstacle, now)
    await this.#order(entry, now, signal)
  }

  async #mayOrder(now: number, signal: AbortSignal): Promise<boolean> {
    return now >= this.#stored.notBefore && (await this.#isDue(now, signal))
  }

  #loadOnce(now: number): Promise<unknown> {
    this.#first ??= this.#load(now).catch((error) => {
      this.#first = undefined
      throw error
    })
    return this.#first
  }

  /** Reads what is stored, if that has changed. A chain that does not fit is replaced. */
  async #load(now: number): Promise<DomainEntry> {
    const { crypto, changed } = this.#parts
    const entry = await this.#open()
    if (entry.text === this.#text) return entry
    this.#text = entry.text
    this.#stored = readStored(entry.text)
    const chain = this.#stored.chain.map((one) => fromBase64(one) ?? new Uint8Array())
    const wanted = { key: entry.key, names: [this.#domain], now: now + CLOCK_SKEW_MS, crypto }
    const current = chain.length > 0 ? checkedCertificate(chain, wanted).catch(() => undefined) : undefined
    this.#become(await current)
    changed()
    return entry
  }

  #open(): Promise<DomainEntry> {
    const { store, authority } = this.#parts
    return store.load(`${this.#domain}@${authority.host}`)
  }

  #become(certificate: OwnCertificate | undefined): void {
    this.#current = certificate
    this.#askedAt = Number.NEGATIVE_INFINITY
    this.#renewsAt = undefined
  }

  async #isDue(now: number, signal: AbortSignal): Promise<boolean> {
    const current = this.#current
    if (!current || now >= current.own.notAfter) return true
    if (now - this.#askedAt >= RENEWAL_ASK_MS) {
      this.#askedAt = now
      const { notBefore, notAfter } = current.own
      const earlier = Math.random() * EARLIER_SHARE * (notAfter - notBefore)
      this.#renewsAt ??= usualRenewalAt(current.own) - earlier
      // An authority that does not answer changes nothing.
      const advised = await this.#parts.authority.renewalTime(current, signal).catch(() => undefined)
      if (advised !== undefined) this.#renewsAt = Math.min(this.#renewsAt, advised)
      this.#parts.changed()
    }
    return this.#renewsAt !== undefined && now >= this.#renewsAt
  }

  /** Resolves with the published limit that an order would exceed, and for how long. */
  async #obstacle(
    now: number,
    signal: AbortSignal,
  ): Promise<{ limit: PublishedLimit; ms: number } | undefined> {
    const { authority } = this.#parts
    const isExempt = this.#current !== undefined && (await authority.hasRenewalInfo(signal))
    const waits = [
      { limit: LIMITS.orders, ms: authority.waitMs(now) },
      { limit: LIMITS.failures, ms: waitMs(LIMITS.failures, this.#stored.failures, now) },
      {
        limit: LIMITS.certificates,
        ms: isExempt ? 0 : waitMs(LIMITS.certificates, this.#stored.certificates, now),
      },
      { limit: LIMITS.attempts, ms: waitMs(LIMITS.attempts, this.#attempts, performance.now()) },
    ]
    return waits.find(({ ms }) => ms > 0)
  }

  async #postpone(
    entry: DomainEntry,
    { limit, ms }: { limit: PublishedLimit; ms: number },
    now: number,
  ): Promise<void> {
    const until = now + ms
    const hours = limit.windowMs / 3_600_000
    const why = `this site makes at most ${limit.max} ${limit.what} in ${hours} hours, below what authorities allow: the next one is possible at ${new Date(until).toISOString()}`
    const error = new SvcError(
      'certificate_unavailable',
      `the certificate of ${this.#domain} has to wait: ${why}`,
    )
    await this.#save(entry, { notBefore: until, error: error.message })
    this.#parts.changed()
    this.#parts.onError(error)
  }

  async #order(entry: DomainEntry, now: number, signal: AbortSignal): Promise<void> {
    const { authority, changed, onError } = this.#parts
    const leaf = this.#current?.chain[0]
    this.#attempts = spend(LIMITS.attempts, this.#attempts, performance.now())
    this.#isOrdering = true
    changed()
    try {
      await this.#save(entry, { certificates: spend(LIMITS.certificates, this.#stored.certificates, now) })
      const validated = (isValid: boolean): void => {
        if (isValid) return
        const failures = spend(LIMITS.failures, this.#stored.failures, now)
        this.#stored = { ...this.#stored, failures }
      }
      const replaces = leaf && (await authority.hasRenewalInfo(signal)) ? acmeCertificateId(leaf) : undefined
      const show = (proof: Uint8Array): Promise<void> => this.#save(entry, { proof: toBase64(proof) })
      const request = { domain: this.#domain, key: entry.key, replaces, show, validated, signal }
      await this.#use(entry, await authority.order(request, now))
    } catch (cause) {
      signal.throwIfAborted()
      const error = errorOfOrder(cause, this.#domain)
      await this.#save(entry, this.#failure(error, now))
      onError(error)
    } finally {
      this.#isOrdering = false
      changed()
    }
  }

  async #use(entry: DomainEntry, chain: readonly Uint8Array[]): Promise<void> {
    const { crypto } = this.#parts
    // The authority may have issued it this very second.
    const now = this.#parts.now() + CLOCK_SKEW_MS
    const certificate = await checkedCertificate(chain, {
      key: entry.key,
      names: [this.#domain],
      now,
      crypto,
    })
    try {
      // It is stored before it is used, so that a page that is reloaded after the first visitor has it.
      const stored = {
        chain: chain.map(toBase64),
        proof: undefined,
        failed: 0,
        notBefore: 0,
        error: undefined,
      }
      await this.#save(entry, stored)
    } finally {
      this.#become(certificate)
    }
  }

  #failure(error: SvcError, now: number): Partial<Stored> {
    const { failed } = this.#stored
    const pauseMs = jittered(backoffMs(failed, 2 * BACKOFF_FIRST_MS, BACKOFF_MAX_MS))
    const notBefore = now + Math.max(pauseMs, error.retryAfterMs ?? 0)
    return { proof: undefined, failed: failed + 1, notBefore, error: error.message }
  }

  /** Without a store there are no orders: each page that is loaded again would repeat them. */
  #failedWithoutStore(cause: unknown, now: number): void {
    const error = errorOfOrder(cause, this.#domain)
    const isNew = error.message !== this.#stored.error
    this.#stored = { ...this.#stored, ...this.#failure(error, now) }
    this.#parts.changed()
    if (isNew) this.#parts.onError(error)
  }

  async #save(entry: DomainEntry, change: Partial<Stored>): Promise<void> {
    this.#stored = { ...this.#stored, ...change }
    const text = JSON.stringify(this.#stored)
    await entry.save(text)
    this.#text = text
  }
}

/** Reads a stored text; what is damaged counts as missing. */
function readStored(text: string | undefined): Stored {
  const { chain, proof, certificates, failures, failed, notBefore, error } = Object(parseJson(text ?? ''))
  return {
    chain: Array.isArray(chain) && chain.every((one) => typeof one === 'string') ? chain : [],
    proof: typeof proof === 'string' ? proof : undefined,
    certificates: timesOf(certificates),
    failures: timesOf(failures),
    failed: Number.isSafeInteger(failed) ? failed : 0,
    notBefore: Number.isFinite(notBefore) ? notBefore : 0,
    error: typeof error === 'string' ? error : undefined,
  }
}
