// The budget of ACME orders: which may be made now. It is kept across restarts, and sites cannot use the root host's
// share.

import { now } from '../../core/clock.ts'
import type { Logger } from '../../core/log/log.ts'
import { GroupCommit } from '../../core/storage/group-commit.ts'
import { Allowance } from './allowance.ts'
import { AcmeError, type AcmeFault, type CertificateOrder } from './authority.ts'
import { BUDGET_FILE, readBudget, type SavedBudget, writeBudget } from './budget-file.ts'
import { Failures } from './failures.ts'
import {
  AUTHORITY_PAUSE_MAX_MS,
  BACKOFF_MIN_MS,
  BUDGET_TURN_MS,
  IDENTITIES_MAX,
  IDENTITY_SHARE,
  NAMES_PER_ORDER_MAX,
  RENEWAL_SHARE,
  RESTART_PAUSE_MAX_MS,
  RETRY_AFTER_MAX_MS,
  ROOT_FAILURES_MAX,
  ROOT_SHARE,
  SITE_BURST_SHARE,
  SITE_FAILURES_MAX,
} from './limits.ts'
import type { OrderSharing } from './order-sharing.ts'

/** What an authority allows; the defaults of the settings are Let's Encrypt's limits. */
export interface BudgetRates {
  /** New orders of the account. */
  ordersPerHour: number
  /** Certificates below the registered domain whose names had none before. */
  certificatesPerWeek: number
}

/** The fields of an order that the budget reads. */
export type BudgetedOrder = Pick<CertificateOrder, 'for' | 'identityKey' | 'names' | 'renews' | 'signal'>

export interface BudgetOptions {
  /** Directory of the state files. */
  directory: string
  rates: BudgetRates
  /** The other machines, which share the budget; undefined on a single machine. */
  sharing?: OrderSharing | undefined
  log: Logger
  /** Called at the end of each order, including those that {@link OrderBudget.take} refuses. */
  onOrder?: ((hosts: 'root' | 'site', result: 'issued' | AcmeFault) => void) | undefined
  /** A number from 0 to below 1, for the jitter of pauses. @default Math.random */
  random?: () => number
}

const HOUR_MS = 3_600_000
const WEEK_MS: number = 7 * 24 * HOUR_MS

/**
 * For every order that {@link OrderBudget.take} accepted, callers must call `succeeded`, `failed` or `abandoned` with
 * the same object.
 */
export class OrderBudget {
  readonly #options: BudgetOptions
  #orders!: Allowance
  #certificates!: Allowance
  /** The share of new sites, so that a crowd of them cannot use up a week's certificates in an hour. */
  #siteCertificates!: Allowance
  /** Identity key → its certificates per week. */
  readonly #identities = new Map<string, Allowance>()
  #rootFailures!: Failures
  #siteFailures!: Failures
  /** Relay time until which the authority accepts no orders for sites. */
  #sitesPausedUntil = 0
  /** Orders whose units come back when they fail. */
  readonly #refundable = new WeakSet<BudgetedOrder>()
  readonly #saves = new GroupCommit(() => writeBudget(this.#options.directory, this.#saved()))

  /** @throws SettingsError when `acme-budget.json` cannot be read or is damaged */
  static async open(options: BudgetOptions): Promise<OrderBudget> {
    const saved = await readBudget(options.directory)
    const budget = new OrderBudget(options)
    budget.#restore(saved, RESTART_PAUSE_MAX_MS)
    // The restart of one machine shortens the pauses of all.
    if (saved !== undefined && saved.root_failures.length > 0)
      await budget.#note(async () => {
        budget.#restore(await readBudget(options.directory), RESTART_PAUSE_MAX_MS)
        await budget.#save()
      })
    return budget
  }

  private constructor(options: BudgetOptions) {
    this.#options = options
  }

  /** @param rootPauseMaxMs the longest pause that is left after failed orders of the root host */
  #restore(saved: SavedBudget | undefined, rootPauseMaxMs: number): void {
    const { rates, random = Math.random } = this.#options
    // If the wall clock was set back since then, nobody waits longer than the file says.
    const elapsedMs = saved === undefined ? 0 : Math.max(0, Date.now() - saved.saved_at)
    const left = (units = 0, perPeriod: number, periodMs: number): number =>
      Math.max(0, units - (elapsedMs * perPeriod) / periodMs)
    const { ordersPerHour, certificatesPerWeek } = rates
    const sites = certificatesPerWeek * (1 - ROOT_SHARE)
    this.#orders = new Allowance(
      { units: ordersPerHour, periodMs: HOUR_MS, burst: ordersPerHour },
      left(saved?.orders, ordersPerHour, HOUR_MS),
    )
    this.#certificates = new Allowance(
      { units: certificatesPerWeek, periodMs: WEEK_MS, burst: certificatesPerWeek },
      left(saved?.certificates, certificatesPerWeek, WEEK_MS),
    )
    this.#siteCertificates = new Allowance(
      { units: sites, periodMs: WEEK_MS, burst: Math.ceil(certificatesPerWeek * SITE_BURST_SHARE) },
      left(saved?.site_certificates, sites, WEEK_MS),
    )
    this.#rootFailures = new Failures(ROOT_FAILURES_MAX, random)
    this.#siteFailures = new Failures(SITE_FAILURES_MAX, random)
    this.#identities.clear()
    if (saved === undefined) return
    const perIdentity = this.#perIdentity
    for (const [key, units] of Object.entries(saved.identities)) {
      const spent = left(units, perIdentity, WEEK_MS)
      if (spent > 0) this.#identities.set(key, this.#newIdentity(spent))
    }
    this.#rootFailures.restore(saved.root_failures, elapsedMs, rootPauseMaxMs)
    this.#siteFailures.restore(saved.site_failures, elapsedMs, RETRY_AFTER_MAX_MS)
  }

  /**
   * Takes an order's units from the budget, and resolves when the budget is on disk.
   * @throws AcmeError `rate_limited`, with the time after which to ask again; `unreachable` while the other machines
   *   cannot be reached
   */
  async take(order: BudgetedOrder): Promise<void> {
    if (order.names.length === 0 || order.names.length > NAMES_PER_ORDER_MAX)
      throw new AcmeError('refused', `an order has 1 to ${NAMES_PER_ORDER_MAX} names`)
    try {
      await this.#together(order.signal, async () => {
        this.#check(order)
        this.#spend(order)
        await this.#saveOrRefund(order)
      })
    } catch (error) {
      this.#options.onOrder?.(order.for, faultOf(error))
      throw error
    }
  }

  /** Resolves when it is written. */
  async failed(order: BudgetedOrder, error: unknown): Promise<void> {
    if (order.signal?.aborted) return await this.abandoned(order)
    this.#options.onOrder?.(order.for, faultOf(error))
    if (order.for === 'site' && error instanceof AcmeError && error.fault === 'rate_limited')
      this.#pauseSites(error.retryAfterMs ?? BACKOFF_MIN_MS)
    await this.#note(async () => {
      this.#failuresOf(order).add(keysOf(order), error)
      await this.#giveBack(order)
    })
  }

  /**
   * Ends an order that the relay itself gave up, such as at shutdown. It causes no pause. Resolves when the budget is
   * on disk.
   */
  async abandoned(order: BudgetedOrder): Promise<void> {
    await this.#note(() => this.#giveBack(order))
  }

  /**
   * Says whether the authority may have issued the order's certificate. If so, a failure does not give its units back.
   */
  mayBeIssued(order: BudgetedOrder, isPossible: boolean): void {
    if (isPossible) this.#refundable.delete(order)
    else this.#refundable.add(order)
  }

  /** Resolves when it is written. */
  async succeeded(order: BudgetedOrder): Promise<void> {
    this.#refundable.delete(order)
    this.#options.onOrder?.(order.for, 'issued')
    await this.#note(async () => {
      this.#failuresOf(order).remove(keysOf(order))
      await this.#save()
    })
  }

  /**
   * Changes the budget that all machines share.
   * @throws what `change` throws, AcmeError `unreachable`, or the signal's reason
   */
  async #together(signal: AbortSignal | undefined, change: () => Promise<void>): Promise<void> {
    const { sharing, directory } = this.#options
    if (sharing === undefined) return await change()
    const never = new AbortController().signal
    await sharing.alone('acme-budget', signal ?? never, async () => {
      await sharing.refresh([BUDGET_FILE])
      this.#restore(await readBudget(directory), RETRY_AFTER_MAX_MS)
      await change()
      await sharing.publish([BUDGET_FILE])
    })
  }

  /** Changes the shared budget, or only this machine's while the others cannot be reached. Never rejects. */
  async #note(change: () => Promise<void>): Promise<void> {
    let isMade = false
    const make = async (): Promise<void> => {
      isMade = true
      await change()
    }
    try {
      const { sharing } = this.#options
      await this.#together(sharing && AbortSignal.timeout(BUDGET_TURN_MS), make)
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the other machines do not know how an order ended')
      if (!isMade) await make()
    }
  }

  async #giveBack(order: BudgetedOrder): Promise<void> {
    if (this.#refundable.delete(order)) this.#refund(order)
    await this.#save()
  }

  #check(order: BudgetedOrder): void {
    const name = order.names[0]
    const failure = this.#failuresOf(order).waiting(keysOf(order))
    if (failure !== undefined) {
      const { retryAfterMs, reason } = failure
      throw limited(`${name}: the last order failed (${reason})`, retryAfterMs)
    }
    const { ordersPerHour, certificatesPerWeek } = this.#options.rates
    const waitForOrder = this.#orders.waitMs(this.#keptOrders(order))
    if (waitForOrder > 0)
      throw limited(
        `${name}: the relay makes ${ordersPerHour} orders an hour, as in ACME_ORDERS_PER_HOUR`,
        waitForOrder,
      )
    const waitForCertificate = this.#certificateWaitMs(order)
    if (waitForCertificate > 0)
      throw limited(
        `${name}: the relay orders ${certificatesPerWeek} new certificates a week, as in ACME_CERTIFICATES_PER_WEEK`,
        waitForCertificate,
      )
    if (order.for === 'root') return
    const waitForPause = this.#sitesPausedUntil - now()
    if (waitForPause > 0) throw limited(`${name}: the authority wants no more orders for now`, waitForPause)
    const waitForIdentity = this.#identityOf(order)?.waitMs() ?? 0
    if (waitForIdentity > 0)
      throw limited(`${name}: its identity has had its certificates of this week`, waitForIdentity)
  }

  /** Orders that are reserved for others. */
  #keptOrders(order: BudgetedOrder): number {
    if (order.for === 'root') return 0
    const share = order.renews ? ROOT_SHARE : ROOT_SHARE + RENEWAL_SHARE
    return Math.ceil(this.#options.rates.ordersPerHour * share)
  }

  #certificateWaitMs(order: BudgetedOrder): number {
    // Let's Encrypt does not count a certificate for names that had one.
    if (order.renews) return 0
    if (order.for === 'root') return this.#certificates.waitMs()
    const kept = Math.ceil(this.#options.rates.certificatesPerWeek * ROOT_SHARE)
    return Math.max(this.#certificates.waitMs(kept), this.#siteCertificates.waitMs())
  }

  #spend(order: BudgetedOrder): void {
    this.#refundable.add(order)
    this.#orders.spend()
    if (!order.renews) this.#certificates.spend()
    if (order.for === 'root') return
    if (!order.renews) this.#siteCertificates.spend()
    if (order.identityKey === undefined) return
    const identity = this.#identityOf(order) ?? this.#newIdentity()
    identity.spend()
    this.#identities.set(order.identityKey, identity)
    this.#boundIdentities()
  }

  /** An order stays spent: the authority counts every order, but only the certificates that it issues. */
  #refund(order: BudgetedOrder): void {
    if (!order.renews) this.#certificates.refund()
    if (order.for === 'root') return
    if (!order.renews) this.#siteCertificates.refund()
    this.#identityOf(order)?.refund()
  }

  #pauseSites(retryAfterMs: number): void {
    this.#sitesPausedUntil = now() + Math.min(retryAfterMs, AUTHORITY_PAUSE_MAX_MS)
  }

  #failuresOf(order: BudgetedOrder): Failures {
    return order.for === 'root' ? this.#rootFailures : this.#siteFailures
  }

  #identityOf({ identityKey }: BudgetedOrder): Allowance | undefined {
    return identityKey === undefined ? undefined : this.#identities.get(identityKey)
  }

  get #perIdentity(): number {
    return Math.max(1, Math.floor(this.#options.rates.certificatesPerWeek * IDENTITY_SHARE))
  }

  #newIdentity(spent = 0): Allowance {
    const units = this.#perIdentity
    return new Allowance({ units, periodMs: WEEK_MS, burst: units }, spent)
  }

  #boundIdentities(): void {
    if (this.#identities.size <= IDENTITIES_MAX) return
    this.#forgetIdentities()
    if (this.#identities.size <= IDENTITIES_MAX) return
    let leastSpent = Number.POSITIVE_INFINITY
    let least = ''
    for (const [key, { spent }] of this.#identities)
      if (spent < leastSpent) [least, leastSpent] = [key, spent]
    this.#identities.delete(least)
  }

  #forgetIdentities(): void {
    for (const [key, { spent }] of this.#identities) if (spent === 0) this.#identities.delete(key)
  }

  async #saveOrRefund(order: BudgetedOrder): Promise<void> {
    try {
      await this.#saves.commit()
    } catch (error) {
      this.#refund(order)
      this.#refundable.delete(order)
      const message = `no certificate is ordered while the budget cannot be kept: ${(error as Error).message}`
      throw new AcmeError('rate_limited', message, { cause: error, retryAfterMs: BACKOFF_MIN_MS })
    }
  }

  async #save(): Promise<void> {
    try {
      await this.#saves.commit()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the relay cannot keep its budget of ACME orders')
    }
  }

  #saved(): SavedBudget {
    this.#forgetIdentities()
    return {
      saved_at: Date.now(),
      orders: this.#orders.spent,
      certificates: this.#certificates.spent,
      site_certificates: this.#siteCertificates.spent,
      identities: Object.fromEntries([...this.#identities].map(([key, { spent }]) => [key, spent])),
      root_failures: this.#rootFailures.saved(),
      site_failures: this.#siteFailures.saved(),
    }
  }
}

/** The keys that must wait after a failure: each name, and the site's identity, so that its other names wait too. */
function keysOf({ names, identityKey }: BudgetedOrder): string[] {
  return identityKey === undefined ? [...names] : [...names, `identity ${identityKey}`]
}

/** The error for an order that must wait. An infinite wait has no retry time. */
function limited(message: string, waitMs: number): AcmeError {
  if (!Number.isFinite(waitMs))
    return new AcmeError('rate_limited', `${message}, and none of them is for sites`)
  const retryAfterMs = Math.ceil(waitMs)
  const next = new Date(Date.now() + retryAfterMs).toISOString()
  return new AcmeError('rate_limited', `${message}; the next one is possible at ${next}`, { retryAfterMs })
}

function faultOf(error: unknown): AcmeFault {
  return error instanceof AcmeError ? error.fault : 'unusable'
}
