// Converts an amount of money from decimal text to the smallest units of its asset, exactly.

import { SvcError } from '../errors.ts'

/** A decimal number without sign, exponent or needless zeros in front. */
const DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?$/
/** Amounts on the chain have 64 bits. */
const UNITS_MAX: bigint = 2n ** 64n - 1n

/**
 * @param text such as `0.01`
 * @param decimals digits behind the point that the asset has
 * @returns the whole number of smallest units, as decimal digits
 * @throws SvcError `invalid_option` for text that is no such amount, that has more digits than the asset, or that is nothing
 */
export function smallestUnits(text: string, decimals: number): string {
  const [, whole, fraction = ''] = (typeof text === 'string' && DECIMAL.exec(text)) || []
  if (whole === undefined) throw wrong(text, 'is not a decimal string such as "0.01"')
  if (fraction.length > decimals)
    throw wrong(text, `has ${fraction.length} digits behind the point, and the asset has ${decimals}`)
  // BigInt of a long text takes long, and each digit beyond these is too much anyway
  const units = whole.length > 20 ? UNITS_MAX + 1n : BigInt(whole + fraction.padEnd(decimals, '0'))
  if (units === 0n) throw wrong(text, 'is nothing: leave the route out to give it away')
  if (units > UNITS_MAX) throw wrong(text, 'is more than the chain can hold')
  return String(units)
}

function wrong(text: unknown, why: string): SvcError {
  return new SvcError('invalid_option', `amount ${JSON.stringify(text) ?? String(text)} ${why}`)
}
