// Verifies, first without and then with the chain, that a payment meets a site's requirements.

import { CLOCK_SKEW_MS } from '../limits.ts'
import { isValidTransactionSignature } from './libraries.ts'
import type { Nodes } from './nodes.ts'
import { Refusal } from './refusal.ts'
import type { SignedPayment } from './request.ts'
import type { Payment } from './transaction.ts'

/** First byte of a signature: its scheme. Source: the chain's documentation, "Signatures". */
const FLAGS = { ED25519: 0, SECP256K1: 1, SECP256R1: 2, ZKLOGIN: 5, PASSKEY: 6 }
const TAKEN_FLAGS: ReadonlySet<number> = new Set(Object.values(FLAGS))

/** @throws Refusal when the transaction does not pay the terms */
export function checkTerms({ terms }: SignedPayment, payment: Payment): void {
  if (payment.recipient !== terms.payTo)
    throw new Refusal(
      'invalid_exact_sui_payload_recipient_mismatch',
      `the transaction pays ${payment.recipient} and not ${terms.payTo}`,
    )
  if (payment.sender === terms.payTo)
    throw new Refusal('invalid_exact_sui_payload_recipient_mismatch', 'the sender pays itself')
  if (payment.asset !== terms.asset)
    throw new Refusal(
      'invalid_exact_sui_payload_asset_mismatch',
      `the transaction pays in ${payment.asset} and not in ${terms.asset}`,
    )
  if (payment.amount !== terms.amount)
    throw new Refusal(
      'invalid_exact_sui_payload_value_mismatch',
      `the transaction pays ${payment.amount} and not ${terms.amount}`,
    )
}

/**
 * Checks that the sender signed exactly these bytes. Multi-signatures are refused, because one part may need an
 * answer of a node that the library chooses.
 * @throws Refusal, and PaymentError `nodes_unavailable` for a zkLogin signature that no node can verify
 */
export async function checkSignature(
  nodes: Nodes,
  signed: SignedPayment,
  { sender }: Payment,
): Promise<void> {
  const flag = flagOf(signed.signature)
  if (!TAKEN_FLAGS.has(flag ?? -1))
    throw new Refusal(
      'invalid_exact_sui_payload_signature',
      'the signature is of no scheme that is taken here',
    )
  const isValid = (client?: Parameters<Parameters<Nodes['ask']>[0]>[0]): Promise<boolean> =>
    isValidTransactionSignature(signed.transaction, signed.signature, {
      address: sender,
      ...(client === undefined ? {} : { client }),
    })
  const valid = flag === FLAGS.ZKLOGIN ? await nodes.ask(isValid) : await isValid().catch(() => false)
  if (!valid)
    throw new Refusal(
      'invalid_exact_sui_payload_signature',
      'the signature is not the sender’s of this transaction',
    )
}

/**
 * Checks that the transaction is valid at most until the next epoch and, if it has times, within `withinMs`.
 * @throws Refusal, and PaymentError `nodes_unavailable`
 */
export async function checkValidity(
  nodes: Nodes,
  { validity }: Payment,
  { withinMs, now }: { withinMs: number; now: number },
): Promise<void> {
  const { chain, epoch } = await nodes.state()
  if (validity.chain !== chain) throw new Refusal('invalid_network', 'the transaction is for another chain')
  if (validity.minEpoch > epoch || validity.maxEpoch < epoch)
    throw expired(
      `is valid from epoch ${validity.minEpoch} to ${validity.maxEpoch}, and this is epoch ${epoch}`,
    )
  if (validity.maxEpoch > epoch + 1n) throw expired('is valid for longer than the next epoch')
  const { minTimestamp = 0, maxTimestamp = now } = validity
  if (minTimestamp > now + CLOCK_SKEW_MS) throw expired('is not valid yet')
  if (maxTimestamp < now - CLOCK_SKEW_MS) throw expired('is no longer valid')
  if (maxTimestamp > now + withinMs + CLOCK_SKEW_MS)
    throw expired(`is valid for longer than ${withinMs / 1_000} s`)
}

function expired(what: string): Refusal {
  return new Refusal('invalid_exact_sui_payload_expired', `the transaction ${what}`)
}

function flagOf(signature: string): number | undefined {
  try {
    return atob(signature).charCodeAt(0)
  } catch {
    return undefined
  }
}
