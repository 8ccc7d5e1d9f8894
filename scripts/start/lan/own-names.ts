// Lets this process find the relay by its name in the network, also where the system has no Multicast DNS.
import dns, { type LookupAddress } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void
type Lookup = (hostname: string, ...rest: unknown[]) => void

/** Sends `host` and the names below it to `address`; `dns.lookup` asks the system for others as before. */
export function resolveHere(host: string, address: string): void {
  const system = dns.lookup as Lookup
  const lookup: Lookup = (hostname, ...rest) => {
    const isOwn = hostname === host || hostname.endsWith(`.${host}`)
    if (isOwn) process.nextTick(answer, address, rest)
    else system(hostname, ...rest)
  }
  Object.assign(dns, { lookup })
  syncBuiltinESMExports()
}

/** @param rest options, which may be left out, and the callback */
function answer(address: string, rest: unknown[]): void {
  const callback = rest.at(-1) as Callback
  const { all } = (typeof rest[0] === 'object' ? rest[0] : {}) as { all?: boolean }
  if (all) callback(null, [{ address, family: 4 }])
  else callback(null, address, 4)
}
