// The facilitator in this process: it combines the checks, the journal and the chain.

import type { Facilitator } from '../facilitator.ts'
import type { PaymentJournal, PaymentRecord } from '../journal.ts'
import { MAX_IN_FLIGHT, OPEN_CHECK_MS, OPEN_CHECK_RECORDS } from '../limits.ts'
import type {
  PaymentRequest,
  PreparedPayment,
  PrepareRequest,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from '../messages.ts'
import {
  ASSET_TRANSFER_METHOD,
  isPaymentAddress,
  NETWORKS,
  type PaymentNetwork,
  SCHEME,
  X402_VERSION,
} from '../networks.ts'
import { PaymentError } from '../payment-error.ts'
import { type Executed, execute, lookUp, simulate } from './chain.ts'
import { checkSignature, checkTerms, checkValidity } from './check.ts'
import { FirstSeen } from './first-seen.ts'
import { Nodes } from './nodes.ts'
import { preparePayment } from './prepare.ts'
import { Refusal } from './refusal.ts'
import { readPaymentRequest, readRequirements, type SignedPayment } from './request.ts'
import { type Payment, readPayment } from './transaction.ts'

interface SuiFacilitatorOptions {
  network: PaymentNetwork
  /** In lower case. */
  payTo: string
  journal: PaymentJournal
  endpoints: readonly string[]
  chain: string | undefined
  fetch: typeof fetch
  now: () => number
}

export class SuiFacilitator implements Facilitator {
  readonly #options: SuiFacilitatorOptions
  readonly #nodes: Nodes
  readonly #firstSeen = new FirstSeen()
  /** The running settlements, by digest. */
  readonly #settling = new Map<string, { resource: string; answer: Promise<SettleResponse> }>()
  #inFlight = 0
  /** The time of the last check of payments without an outcome. */
  #openCheckedAt = Number.NEGATIVE_INFINITY

  private constructor(options: SuiFacilitatorOptions) {
    this.#options = options
    this.#nodes = new Nodes(options)
  }

  /** Looks up the outcomes of payments that a crash left open, if a full node answers. */
  static async start(options: SuiFacilitatorOptions): Promise<SuiFacilitator> {
    const facilitator = new SuiFacilitator(options)
    await facilitator.#checkOpen()
    return facilitator
  }

  supported(): Promise<SupportedResponse> {
    const { network } = this.#options
    const { name, usdc } = NETWORKS[network]
    const extra = {
      assetTransferMethod: ASSET_TRANSFER_METHOD,
      assets: [usdc],
      networkId: network.replace('sui:', ''),
      networkName: name,
    }
    return Promise.resolve({
      kinds: [{ x402Version: X402_VERSION, scheme: SCHEME, network, extra }],
      extensions: [],
      signers: {},
    })
  }

  async verify(request: PaymentRequest): Promise<VerifyResponse> {
    let payer: string | undefined
    try {
      return await this.#limited(async () => {
        const signed = readPaymentRequest(request, this.#options)
        const payment = readPayment(signed.transaction)
        await this.#prove(signed, payment, (signer) => {
          payer = signer
        })
        return { isValid: true, payer: payment.sender }
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return {
        isValid: false,
        invalidReason: error.reason,
        invalidMessage: error.message,
        ...optional({ payer }),
      }
    }
  }

  async settle(request: PaymentRequest): Promise<SettleResponse> {
    let payer: string | undefined
    try {
      return await this.#limited(async () => {
        const signed = readPaymentRequest(request, this.#options)
        const payment = readPayment(signed.transaction)
        checkTerms(signed, payment)
        await checkSignature(this.#nodes, signed, payment)
        payer = payment.sender
        void this.#checkOpen()
        return await this.#settleOnce(signed, payment)
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return failure(this.#options.network, error, payer)
    }
  }

  async prepare({ sender, paymentRequirements }: PrepareRequest): Promise<PreparedPayment> {
    try {
      return await this.#limited(async () => {
        if (typeof sender !== 'string' || !isPaymentAddress(sender))
          throw new Refusal('invalid_payload', 'sender is no address: it takes 0x and 64 hexadecimal digits')
        const terms = readRequirements(paymentRequirements, this.#options)
        return await preparePayment(this.#nodes, sender.toLowerCase(), terms, this.#options.now())
      })
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      throw new PaymentError('invalid_request', error.message, { reason: error.reason })
    }
  }

  /** @param onSigned called with the payer, once its signature is verified */
  async #prove(signed: SignedPayment, payment: Payment, onSigned: (payer: string) => void): Promise<void> {
    checkTerms(signed, payment)
    await checkSignature(this.#nodes, signed, payment)
    onSigned(payment.sender)
    const record = await this.#options.journal.find(payment.digest)
    if (record?.outcome?.transaction) throw used()
    await this.#check(signed, payment)
  }

  /** Runs the checks with the chain concurrently. The first one of the list that refuses gives the reason. */
  async #check(signed: SignedPayment, payment: Payment): Promise<void> {
    const { withinMs } = signed.terms
    const now = this.#options.now()
    this.#firstSeen.check(payment.digest, withinMs, now)
    const checks = await Promise.allSettled([
      checkValidity(this.#nodes, payment, { withinMs, now }),
      this.#checkUnused(payment),
      simulate(this.#nodes, signed.transaction, payment),
    ])
    for (const check of checks) if (check.status === 'rejected') throw check.reason
    // Remembers only payments that the chain would execute, so that nobody fills the memory for free.
    this.#firstSeen.remember(payment.digest, now)
  }

  async #checkUnused(payment: Payment): Promise<void> {
    if ((await lookUp(this.#nodes, payment)) !== undefined) throw used()
  }

  /** Requests with the same payment for the same thing share one answer. */
  #settleOnce(signed: SignedPayment, payment: Payment): Promise<SettleResponse> {
    const { digest } = payment
    const { resource } = signed
    const same = this.#settling.get(digest)
    if (same !== undefined) return same.resource === resource ? same.answer : Promise.reject(spentElsewhere())
    const answer = this.#settle(signed, payment).finally(() => this.#settling.delete(digest))
    this.#settling.set(digest, { resource, answer })
    return answer
  }

  /** Records the payment on disk before sending it, and its outcome before answering. */
  async #settle(signed: SignedPayment, payment: Payment): Promise<SettleResponse> {
    const { journal } = this.#options
    const known = await journal.find(payment.digest)
    if (known !== undefined && known.resource !== signed.resource) throw spentElsewhere()
    if (known?.outcome?.transaction) return known.outcome
    const found = known === undefined ? undefined : await this.#found(known)
    if (found !== undefined) return found
    // An open payment was already checked and may be in progress: another attempt is harmless.
    if (known === undefined || known.outcome !== undefined) await this.#check(signed, payment)
    const record = known ?? recordOf(signed, payment, this.#options.now())
    const { outcome: _, ...open } = record
    await journal.note(open)
    return await this.#conclude(open, () =>
      execute(this.#nodes, signed.transaction, signed.signature, payment),
    )
  }

  /**
   * Looks up payments without an outcome, and closes those that the chain no longer accepts. Without a node nothing is
   * lost: repeating the payment triggers another look-up.
   */
  async #checkOpen(): Promise<void> {
    const now = this.#options.now()
    if (now - this.#openCheckedAt < OPEN_CHECK_MS) return
    this.#openCheckedAt = now
    try {
      const open = (await this.#options.journal.open()).filter(({ digest }) => !this.#settling.has(digest))
      if (open.length === 0) return
      const { epoch } = await this.#nodes.state()
      for (const record of open.slice(0, OPEN_CHECK_RECORDS))
        if ((await this.#found(record)) === undefined && BigInt(record.lastEpoch) < epoch)
          await this.#conclude(record, () => Promise.reject(tooLate()))
    } catch {}
  }

  /** Returns the chain's outcome for a payment of the journal, once it is on disk; undefined when there is none. */
  async #found(record: PaymentRecord): Promise<SettleResponse | undefined> {
    const payment = {
      ...record,
      sender: record.payer,
      recipient: this.#options.payTo,
      amount: BigInt(record.amount),
    }
    const executed = await lookUp(this.#nodes, payment)
    return executed === undefined ? undefined : await this.#conclude(record, () => Promise.resolve(executed))
  }

  async #conclude(record: PaymentRecord, outcomeOf: () => Promise<Executed>): Promise<SettleResponse> {
    const { digest, payer, network } = record
    let outcome: SettleResponse
    try {
      const { success, error } = await outcomeOf()
      outcome = success
        ? { success, payer, transaction: digest, network }
        : {
            success,
            errorReason: 'invalid_transaction_state',
            errorMessage: `the payment failed on the chain: ${error}`,
            payer,
            transaction: digest,
            network,
          }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      outcome = failure(network, error, payer)
    }
    try {
      await this.#options.journal.note({ ...record, outcome })
    } catch (cause) {
      // Do not answer what a crash would forget: the chain knows the outcome and can be asked again.
      throw new PaymentError('unsettled', 'the outcome of the payment cannot be written down: ask again', {
        cause,
      })
    }
    return outcome
  }

  /** @throws PaymentError `busy` */
  async #limited<T>(run: () => Promise<T>): Promise<T> {
    if (this.#inFlight >= MAX_IN_FLIGHT) throw new PaymentError('busy', 'too many payments are in flight')
    this.#inFlight += 1
    try {
      return await run()
    } finally {
      this.#inFlight -= 1
    }
  }
}

function recordOf({ resource, terms }: SignedPayment, payment: Payment, notedAt: number): PaymentRecord {
  const { digest, sender: payer, asset } = payment
  return {
    digest,
    resource,
    payer,
    payTo: terms.payTo,
    network: terms.network,
    asset,
    amount: String(payment.amount),
    lastEpoch: String(payment.validity.maxEpoch),
    notedAt,
  }
}

function tooLate(): Refusal {
  return new Refusal('invalid_exact_sui_payload_expired', 'the payment was not carried out in time')
}

function used(): Refusal {
  return new Refusal('invalid_transaction_state', 'the payment was used before')
}

function spentElsewhere(): Refusal {
  return new Refusal('invalid_transaction_state', 'the payment was made for something else')
}

function failure(network: string, { reason, message }: Refusal, payer: string | undefined): SettleResponse {
  return {
    success: false,
    errorReason: reason,
    errorMessage: message,
    ...optional({ payer }),
    transaction: '',
    network,
  }
}

function optional(fields: { payer: string | undefined }): { payer?: string } {
  return fields.payer === undefined ? {} : { payer: fields.payer }
}
