// Relays of one machine that have names: every name below `localhost` is 127.0.0.1, and their own authorities are trusted.

import type { LookupAddress, LookupOptions } from 'node:dns'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** In place of `dns.lookup`: systems differ in what they know of names below `localhost` (RFC 6761 §6.3). */
export function lookupLocal(hostname: string, options: LookupOptions, callback: Callback): void {
  const isLocal = hostname.endsWith('.localhost')
  const missing = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { syscall: 'getaddrinfo' })
  process.nextTick(() => {
    if (!isLocal) callback(missing, [])
    else if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
    else callback(null, '127.0.0.1', 4)
  })
}

/** Adds authorities to those that this process trusts. @returns what takes that back */
export function trust(authorities: readonly string[]): () => void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, ...authorities])
  return () => setDefaultCACertificates(before)
}
