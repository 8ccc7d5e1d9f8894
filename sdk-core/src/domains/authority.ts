// The ACME authority of a site, with the site's account there: one order at a time, each counted before it is made.

import { type AccountTerms, asAccount } from '../acme/account.ts'
import { AcmeClient, type AcmeFetch } from '../acme/client.ts'
import { LIMITS } from '../acme/limits.ts'
import { type OrderRequest, orderCertificate } from '../acme/order.ts'
import { spend, timesOf, waitMs } from '../acme/published-limits.ts'
import { renewalTimeOf } from '../acme/renewal.ts'
import type { OwnCertificate } from '../certificate/server-certificate.ts'
import { parseJson } from '../control/relay-client.ts'
import type { DomainEntry, DomainStore } from './domain-store.ts'
import type { AcmeIdentity } from './protection.ts'

/** The text of the account's entry. */
interface StoredAccount {
  /** The URL of the account. */
  account: string | undefined
  /** The domains by which CAA records name the authority. */
  authorities: readonly string[]
  /** The times of its orders. */
  orders: number[]
}

interface Loaded {
  entry: DomainEntry
  client: AcmeClient
}

export class AcmeAuthority {
  readonly #store: DomainStore
  readonly #directory: string
  readonly #terms: AccountTerms
  readonly #fetch: AcmeFetch | undefined
  #loading: Promise<Loaded> | undefined
  #orders: number[] = []
  /** How CAA records name the account. Undefined until there is one. */
  identity: AcmeIdentity | undefined

  constructor(store: DomainStore, directory: string, terms: AccountTerms, send?: AcmeFetch) {
    this.#store = store
    this.#directory = directory
    this.#terms = terms
    this.#fetch = send
  }

  /** The host of the authority, which names what is stored for it. */
  get host(): string {
    return new URL(this.#directory).host
  }

  /**
   * Runs a task while no other site of the identity, in this or another page or process, uses the account: they share it, its limits,
   * and the certificates. What they have stored is read before.
   * @throws what the task throws, SvcError `certificate_unavailable`, or the signal's reason
   */
  async alone<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const locked = async (): Promise<T> => {
      this.#loading = this.#open(await this.#loading)
      await this.#loaded()
      return task()
    }
    return this.#store.lock(this.#id, locked, signal)
  }

  /**
   * Makes the account, if there is none, and learns how CAA records name it.
   * @throws SvcError, AcmeProblem or Error
   */
  async identify(signal: AbortSignal): Promise<AcmeIdentity> {
    return this.identity ?? this.alone(() => this.#identify(signal), signal)
  }

  async #identify(signal: AbortSignal): Promise<AcmeIdentity> {
    const { entry, client } = await this.#loaded()
    return asAccount(client, this.#terms, entry.where, signal, async ({ caaIdentities }) => {
      this.identity = { account: client.account!, authorities: caaIdentities }
      await this.#save()
      return this.identity
    })
  }

  /** Returns the milliseconds until the account may order again: 0 when it may now. */
  waitMs(now: number): number {
    return waitMs(LIMITS.orders, this.#orders, now)
  }

  /**
   * Orders a certificate, within {@link alone}.
   * @returns the chain as DER, leaf first
   * @throws SvcError, AcmeProblem, Error, or the signal's reason
   */
  async order(request: OrderRequest, now: number): Promise<Uint8Array[]> {
    const { entry, client } = await this.#loaded()
    await asAccount(client, this.#terms, entry.where, request.signal, async ({ caaIdentities }) => {
      this.identity = { account: client.account!, authorities: caaIdentities }
    })
    this.#orders = spend(LIMITS.orders, this.#orders, now)
    // An order that is not counted might be repeated by each page that is loaded again.
    await this.#save()
    return asAccount(client, this.#terms, entry.where, request.signal, (directory) =>
      orderCertificate(client, directory, request),
    )
  }

  /** @throws AcmeProblem, Error, or the signal's reason */
  async renewalTime(certificate: OwnCertificate, signal: AbortSignal): Promise<number> {
    return renewalTimeOf((await this.#loaded()).client, certificate, signal)
  }

  /** Resolves with whether an order that names the certificate it replaces escapes some limits (RFC 9773 §5). */
  async hasRenewalInfo(signal: AbortSignal): Promise<boolean> {
    return (await (await this.#loaded()).client.directory(signal)).renewalInfo !== undefined
  }

  get #id(): string {
    return `acme-account@${this.host}`
  }

  #loaded(): Promise<Loaded> {
    this.#loading ??= this.#open(undefined)
    return this.#loading.catch((error) => {
      this.#loading = undefined
      throw error
    })
  }

  /** @param before what was loaded last: its client has nonces, and serves the same key */
  async #open(before: Loaded | undefined): Promise<Loaded> {
    const entry = await this.#store.load(this.#id)
    const isSame = before && String(before.entry.key.publicKey) === String(entry.key.publicKey)
    const client = isSame ? before.client : new AcmeClient(this.#directory, entry.key, this.#fetch)
    const { account, orders } = Object(parseJson(entry.text ?? ''))
    if (typeof account === 'string') client.account = account
    this.#orders = timesOf(orders)
    return { entry, client }
  }

  async #save(): Promise<void> {
    const { entry, client } = await this.#loaded()
    const authorities = this.identity?.authorities ?? []
    const stored: StoredAccount = { account: client.account, authorities, orders: this.#orders }
    await entry.save(JSON.stringify(stored))
  }
}
