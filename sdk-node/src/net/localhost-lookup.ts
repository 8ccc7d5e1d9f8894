// DNS lookup for Node's sockets: names under `localhost` are loopback (RFC 6761 §6.3), even if the system does not know them.

import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns'

const LOCALHOST = /(?:^|\.)localhost\.?$/i
const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void

/** Resolves a name, with the signature of `dns.lookup`, for `net.connect`. */
export function localhostLookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  if (!LOCALHOST.test(hostname)) {
    systemLookup(hostname, options, callback)
    return
  }
  const wanted = LOOPBACK.filter(({ family }) => familyAllows(options.family, family))
  // Sockets expect the answer after this call has returned.
  process.nextTick(() => {
    if (options.all) callback(null, wanted)
    else callback(null, wanted[0]!.address, wanted[0]!.family)
  })
}

function familyAllows(wanted: LookupOptions['family'], family: number): boolean {
  return wanted === undefined || wanted === 0 || wanted === family || wanted === `IPv${family}`
}
