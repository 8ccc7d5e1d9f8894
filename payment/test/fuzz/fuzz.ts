// Fuzz target `payments`: requests and transactions that are nearly right, or nothing at all. Each is refused with a sentence, or is
// exactly one payment to the recipient; nothing else is thrown.

import { fromBase64, toBase64 } from '@mysten/sui/utils'
import fc from '../../../tools/fast-check.ts'
import type { PaymentRequest } from '../../src/index.ts'
import { checkTerms } from '../../src/sui/check.ts'
import { Refusal } from '../../src/sui/refusal.ts'
import { readPaymentRequest, readRequirements } from '../../src/sui/request.ts'
import { readPayment } from '../../src/sui/transaction.ts'
import { PAY_TO, requestOf } from '../payments.ts'

/** Inputs tried at a time. */
const ROUND_RUNS = 50
/** Milliseconds for one input: requests are small, and the machine may be busy with other things. */
const INPUT_MAX_MS = 2_000
/** A message repeats at most a part of what came. */
const MESSAGE_MAX_CHARS = 500
const TAKEN = { network: 'sui:testnet', payTo: PAY_TO } as const

/** @throws Error with the input, on the first that is not treated as it has to be */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  const valid = await requestOf()
  const bytes = fromBase64(valid.paymentPayload.payload.transaction as string)
  let runs = 0
  for (let round = 0; goesOn(runs); round++) {
    const options = { numRuns: ROUND_RUNS, seed: (seed + round) | 0 }
    fc.assert(fc.property(requests(valid), judged(checkRequest)), options)
    fc.assert(fc.property(transactions(bytes), judged(checkTransaction)), options)
    runs += 2 * ROUND_RUNS
  }
  return { runs }
}

/** Anything, or a request in which some values are others. */
function requests(valid: PaymentRequest): fc.Arbitrary<unknown> {
  const text = JSON.stringify(valid)
  const paths = pathsOf(valid)
  const change = fc.record({ path: fc.constantFrom(...paths), value: fc.oneof(fc.anything(), strings) })
  const changed = fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const request = JSON.parse(text)
    for (const { path, value } of changes) put(request, path, value)
    return request
  })
  return fc.oneof({ weight: 4, arbitrary: changed }, { weight: 1, arbitrary: fc.anything() })
}

/** Texts that parsers of numbers, addresses and types take for something. */
const strings: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.constantFrom('0x2::a::B<0x2::a::B<', '1e400', '__proto__', '0'.repeat(1_000), '9'.repeat(20), '\ud800'),
  fc.base64String({ maxLength: 600 }),
)

/** A transaction with other bytes, more, or fewer; or any bytes. */
function transactions(valid: Uint8Array): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const change = fc.record({ at: fc.nat(valid.length - 1), byte: fc.nat(255) })
  const changed = fc
    .record({
      changes: fc.array(change, { maxLength: 4 }),
      length: fc.integer({ min: 0, max: valid.length }),
      tail: fc.uint8Array({ maxLength: 8 }),
      isCut: fc.boolean(),
    })
    .map(({ changes, length, tail, isCut }) => {
      const bytes = Uint8Array.from(valid)
      for (const { at, byte } of changes) bytes[at] = byte
      return isCut ? Uint8Array.of(...bytes.subarray(0, length), ...tail) : bytes
    })
  return fc.oneof(
    { weight: 4, arbitrary: changed },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }).map((bytes) => Uint8Array.from(bytes)) },
  )
}

function checkRequest(input: unknown): void {
  const { terms, transaction } = readPaymentRequest(input, TAKEN)
  if (terms.payTo !== PAY_TO || terms.amount < 10_000n)
    throw new Error('the terms are not those of a payment')
  readPayment(transaction)
}

function checkTransaction(bytes: Uint8Array<ArrayBuffer>): void {
  const payment = readPayment(bytes)
  const terms = readRequirements(REQUIREMENTS, TAKEN)
  checkTerms({ terms, transaction: bytes, signature: '', resource: '' }, payment)
  if (payment.recipient !== PAY_TO || payment.amount !== 10_000n) throw new Error('it pays something else')
}

const REQUIREMENTS = (await requestOf()).paymentRequirements

/** Passes a refusal on as what it should be, and everything else as a finding. */
function judged<T>(check: (input: T) => void): (input: T) => void {
  return (input) => {
    const from = performance.now()
    try {
      check(input)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.message === '' || error.message.length > MESSAGE_MAX_CHARS)
        throw new Error(`a refusal has a message of ${error.message.length} characters`)
    }
    const took = performance.now() - from
    if (took > INPUT_MAX_MS)
      throw new Error(`one input took ${took} ms${input instanceof Uint8Array ? `: ${toBase64(input)}` : ''}`)
  }
}

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]))].filter(
    ({ length }) => length > 0,
  )
}

function put(request: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let object = request
  for (const key of path.slice(0, -1)) {
    const next = object[key]
    if (typeof next !== 'object' || next === null) return
    object = next as Record<string, unknown>
  }
  object[path.at(-1)!] = value
}
