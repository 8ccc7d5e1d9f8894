// What an honest visitor does, whatever happens meanwhile: it asks, waits for a bounded time, and compares every byte.
import { createHash } from 'node:crypto'
import type { Visitor } from '../tools/site/node-site.ts'

/** Other bytes came than those that had to: no fault excuses that. */
export class WrongBytes extends Error {}

/** @throws Error when `visit` takes longer than the visitor's patience, in milliseconds */
export async function inTime<T>(visit: Promise<T>, patienceMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${patienceMs / 1000} s`)), patienceMs)
  try {
    return await Promise.race([visit, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Asks once, and leaves. */
export async function askOnce(visitor: Visitor, path: string, body?: Buffer): Promise<Buffer> {
  try {
    return await visitor.get(path, body)
  } finally {
    visitor.close()
  }
}

/**
 * @param expected what has to come, or its SHA-256 in hexadecimal
 * @throws WrongBytes
 */
export function requireBytes(answer: Uint8Array, expected: Uint8Array | string): void {
  if (sha256(answer) !== (typeof expected === 'string' ? expected : sha256(expected)))
    throw new WrongBytes(`${answer.length} bytes came that are other ones`)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
