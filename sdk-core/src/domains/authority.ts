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
  /** Settles when no order is under way. */
  #last: Promise<unknown> = Promise.resolve()
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
   * Makes the account, if there is none, and learns how CAA records name it.
   * @throws SvcError, AcmeProblem or Error
   */
  async identify(signal: AbortSignal): Promise<AcmeIdentity> {
    if (this.identity) return this.identity
    const { entry, client } = await this.#load()
    return this.#alone(() =>
      asAccount(client, this.#terms, entry.where, signal, async ({ caaIdentities }) => {
        this.identity = { account: client.account!, authorities: caaIdentities }
        await this.#save()
        return this.identity
      }),
    )
  }

  /** Resolves with the milliseconds until the account may order again: 0 when it may now. */
  async waitMs(now: number): Promise<number> {
    await this.#load()
    return waitMs(LIMITS.orders, this.#orders, now)
  }

  /**
   * Orders a certificate.
   * @returns the chain as DER, leaf first
   * @throws SvcError, AcmeProblem, Error, or the signal's reason
   */
  async order(request: OrderRequest, now: number): Promise<Uint8Array[]> {
    const { entry, client } = await this.#load()
    return this.#alone(async () => {
      await asAccount(client, this.#terms, entry.where, request.signal, async ({ caaIdentities }) => {
        this.identity = { account: client.account!, authorities: caaIdentities }
      })
      this.#orders = spend(LIMITS.orders, this.#orders, now)
      // An order that is not counted might be repeated by each page that is loaded again.
      await this.#save()
      return asAccount(client, this.#terms, entry.where, request.signal, (directory) =>
        orderCertificate(client, directory, request),
      )
    })
  }

  /** @throws AcmeProblem, Error, or the signal's reason */
  async renewalTime(certificate: OwnCertificate, signal: AbortSignal): Promise<number> {
    return renewalTimeOf((await this.#load()).client, certificate, signal)
  }

  /** Resolves with whether an order that names the certificate it replaces escapes some limits (RFC 9773 §5). */
  async hasRenewalInfo(signal: AbortSignal): Promise<boolean> {
    return (await (await this.#load()).client.directory(signal)).renewalInfo !== undefined
  }

  #load(): Promise<Loaded> {
    this.#loading ??= this.#open().catch((error) => {
      this.#loading = undefined
      throw error
    })
    return this.#loading
  }

  async #open(): Promise<Loaded> {
    const entry = await this.#store.load(`acme-account@${this.host}`)
    const client = new AcmeClient(this.#directory, entry.key, this.#fetch)
    const { account, orders } = Object(parseJson(entry.text ?? ''))
    if (typeof account === 'string') client.account = account
    this.#orders = timesOf(orders)
    return { entry, client }
  }

  async #save(): Promise<void> {
    const { entry, client } = await this.#load()
    const authorities = this.identity?.authorities ?? []
    const stored: StoredAccount = { account: client.account, authorities, orders: this.#orders }
    await entry.save(JSON.stringify(stored))
  }

  /** Runs one task after the other: they share the account and its limits. */
  #alone<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#last.then(task)
    this.#last = run.catch(() => {})
    return run
  }
}
