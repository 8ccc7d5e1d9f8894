// Kills a facilitator at random moments between verify and settle, and checks that money moves at most once for each payment, and
// that each payment which moved money was answered or can be asked for.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PAY_TO, PAYER } from '../../../payment/test/payments.ts'
import { startSuiNode } from '../../../tools/sui-node/server.ts'
import { liveAndDie } from './crash-life.ts'
import { KEPT, READY } from './crash-model.ts'
import { facilitatorOf, nodeFileOf, paymentOf } from './payment-crash-model.ts'

const WRITER: string = join(import.meta.dirname, 'payment-crash-writer.ts')
/** A number above every number of payments that one life reaches. */
const NUMBERS_PER_LIFE = 10_000
const AMOUNT = 10_000n
/** More than all payments of all lives. */
const FUNDS = 10n ** 15n

export interface PaymentCrashReport {
  /** Payments that the facilitator answered before it was killed. */
  answered: number
  /** Payments that were begun and not answered: their outcome was asked for. */
  asked: number
  /** Those of them whose money had moved already. */
  moved: number
}

/** @throws Error that names what was lost or paid twice */
export async function crashPayments(times: number): Promise<PaymentCrashReport> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-payment-crash-'))
  const { url, node, close } = await startSuiNode()
  node.chain.ledger.epoch = 100n
  node.chain.fund(PAYER.toSuiAddress(), FUNDS)
  await writeFile(nodeFileOf(directory), url)
  const report = { answered: 0, asked: 0, moved: 0 }
  let paid = 0n
  for (let life = 1; life <= times; life++) {
    // Every other life has something that must outlast it, however slow the machine is.
    const milestone = life % 2 === 0 ? KEPT : READY
    const told = await liveAndDie(WRITER, { directory, seed: life * NUMBERS_PER_LIFE, milestone })
    const begun = numbersOf(told, '>')
    const answered = new Set(numbersOf(told, '<'))
    const moved = (node.chain.balance(PAY_TO) - paid) / AMOUNT
    if (moved > BigInt(begun.length) || moved < BigInt(answered.size))
      throw new Error(`${begun.length} begun, ${answered.size} answered, and money moved ${moved} times`)
    report.answered += answered.size
    report.asked += begun.length - answered.size
    report.moved += Number(moved) - answered.size
    await askAgain(directory, url, begun)
    paid += AMOUNT * BigInt(begun.length)
    if (node.chain.balance(PAY_TO) !== paid)
      throw new Error(
        `${begun.length} payments were asked for, and the recipient has ${node.chain.balance(PAY_TO)}`,
      )
  }
  await close()
  await rm(directory, { recursive: true })
  await rm(nodeFileOf(directory))
  return report
}

/** The facilitator of the next life answers all payments of the one before, with their digests. */
async function askAgain(directory: string, url: string, numbers: readonly number[]): Promise<void> {
  const facilitator = await facilitatorOf(directory, url)
  for (const n of numbers) {
    const { success, transaction, errorReason } = await facilitator.settle(await paymentOf(n))
    if (!success || transaction === '') throw new Error(`${n} has no answer: ${errorReason}`)
  }
}

function numbersOf(report: string, sign: '<' | '>'): number[] {
  return [...report.matchAll(/^([<>]) (\d+)\n/gm)].flatMap(([, one, n]) => (one === sign ? [Number(n)] : []))
}
