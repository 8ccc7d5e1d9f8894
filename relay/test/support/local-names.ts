// Relays of one machine that have names: every name below `localhost` is 127.0.0.1, and their own authorities are trusted.

import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** In place of `dns.lookup`, which takes addresses, too: systems differ in what they know of names below `localhost` (RFC 6761 §6.3). */
export function lookupLocal(hostname: string, options: LookupOptions, callback: Callback): void {
  const address = isIP(hostname) ? hostname : hostname.endsWith('.localhost') ? '127.0.0.1' : undefined
  const missing = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { syscall: 'getaddrinfo' })
  process.nextTick(() => {
    if (address === undefined) callback(missing, [])
    else if (options.all) callback(null, [{ address, family: isIP(address) }])
    else callback(null, address, isIP(address))
  })
}

/** Adds authorities to those that this process trusts. @returns what takes that back */
export function trust(authorities: readonly string[]): () => void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, ...authorities])
  return () => setDefaultCACertificates(before)
}
