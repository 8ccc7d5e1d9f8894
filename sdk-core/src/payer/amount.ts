// Converts an amount of money from decimal text to the smallest units of its asset, exactly.

import { SvcError } from '../errors.ts'

/** A decimal number without sign, exponent or leading zeros. */
const DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?$/
/** Amounts on the chain have 64 bits. */
const UNITS_MAX: bigint = 2n ** 64n - 1n

/**
 * @param text such as `0.01`
 * @param decimals the number of decimal places of the asset
 * @returns the whole number of smallest units, as decimal digits
 * @throws SvcError `invalid_option` for text that is not such an amount, has more decimal places than the asset, or is 0
 */
export function smallestUnits(text: string, decimals: number): string {
  const [, whole, fraction = ''] = (typeof text === 'string' && DECIMAL.exec(text)) || []
  if (whole === undefined) throw wrong(text, 'is not a decimal string such as "0.01"')
  if (fraction.length > decimals)
    throw wrong(text, `has ${fraction.length} decimal places, and the asset has ${decimals}`)
  // BigInt is slow for long text, and more digits than these are too much anyway.
  const units = whole.length > 20 ? UNITS_MAX + 1n : BigInt(whole + fraction.padEnd(decimals, '0'))
  if (units === 0n) throw wrong(text, 'is zero: leave the route out to make it free')
  if (units > UNITS_MAX) throw wrong(text, 'is more than the chain can hold')
  return String(units)
}

function wrong(text: unknown, why: string): SvcError {
  return new SvcError('invalid_option', `amount ${JSON.stringify(text) ?? String(text)} ${why}`)
}
