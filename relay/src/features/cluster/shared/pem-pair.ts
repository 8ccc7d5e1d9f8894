// Compares pairs of certificate and key when machines have different ones: the one issued later counts.

import { createPrivateKey, X509Certificate } from 'node:crypto'

/** PEM texts of two files; undefined for one that is missing. */
interface PemPair {
  key: string | undefined
  /** Leaf first. */
  chain: string | undefined
}

/** Whether both are there, and the key is that of the leaf. */
export function isPair(pair: PemPair): boolean {
  return leafOf(pair) !== undefined
}

/** Whether a pair is complete, has not expired, and its leaf is valid from a later time than that of another chain. */
export function isNewerPair(pair: PemPair, other: string): boolean {
  const leaf = leafOf(pair)
  if (leaf === undefined || leaf.validToDate.getTime() <= Date.now()) return false
  try {
    return leaf.validFromDate > new X509Certificate(other).validFromDate
  } catch {
    return true
  }
}

function leafOf({ key, chain }: PemPair): X509Certificate | undefined {
  if (key === undefined || chain === undefined) return undefined
  try {
    const leaf = new X509Certificate(chain)
    return leaf.checkPrivateKey(createPrivateKey(key)) ? leaf : undefined
  } catch {
    return undefined
  }
}
