// Measures what the engine adds to a page's download, with the cryptography that a page usually needs.
import path from 'node:path'
import { bundle, weigh } from '../../tools/bundler/bundle.ts'
import { type Entry, limited } from '../lib/entry.ts'

/** Kilobytes of gzip. */
const SIZE_MAX_KB = 20

export async function size(): Promise<Entry> {
  const weights = weigh(await bundle(path.join(import.meta.dirname, 'size-entry.ts')))
  const bytes = weights.reduce((sum, { eager, gzip }) => sum + (eager ? gzip : 0), 0)
  const question = { name: 'engine and its usual crypto, minified', unit: 'KB gzip', better: 'less' } as const
  return limited(question, bytes / 1024, SIZE_MAX_KB)
}
