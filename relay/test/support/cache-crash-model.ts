// Models the uploader of the static cache's crash test: each site publishes one version after the other, whose files follow
// from its number.

import { createHash } from 'node:crypto'
import type { TestFiles } from './multipart-body.ts'

export const SITES = 3
/** The path of the file that says which version it is. */
export const VERSION_PATH = 'version.txt'
export const CACHE_BYTES: number = 64 * 1024 * 1024
/** Far longer than any test runs. */
const DAY_MS = 86_400_000

export function siteOf(index: number): { identityKey: string; hostname: string } {
  return { identityKey: `site${index}:0x${'cd'.repeat(20)}`, hostname: `site${index}.relay.example` }
}

/** Two contents that compress well, two that do not, and a double. */
export function filesOf(site: number, version: number): TestFiles {
  const text = `site ${site}, version ${version}. `
  return {
    'a.bin': noise(`a ${text}`, 30_000 + ((version * 7919) % 200_000)),
    'b/c.bin': noise(`b ${text}`, 1_000),
    'b/d.bin': noise(`b ${text}`, 1_000),
    'index.html': text.repeat(2_000),
    [VERSION_PATH]: `${version}`,
  }
}

export function recordOf(version: number): {
  expiresAt: number
  publishedAt: number
  clientIp: string
  reportedIp: undefined
} {
  return {
    expiresAt: Date.now() + DAY_MS,
    publishedAt: version,
    clientIp: '192.0.2.1',
    reportedIp: undefined,
  }
}

function noise(seed: string, length: number): Buffer {
  return createHash('shake256', { outputLength: length }).update(seed).digest()
}
