// Thousands of WebSockets, as many as leases may have, that do nothing but be there.
import type { ClientAttack, Facts } from './attack.ts'
import { webSocketRequest } from './carrier-frames.ts'
import { openTls, registerLease, type Target, untilThen } from './target.ts'

const MB = 1e6
const LEASES = 300
const CARRIERS_PER_LEASE = 8
const AT_A_TIME = 16
/** The share of the time in which they are opened; then they stay. */
const OPENING_SHARE = 0.7
const SWITCHING_PROTOCOLS = 'HTTP/1.1 101 '

export const attack: ClientAttack = {
  by: 'clients',
  what: 'thousands of WebSockets, of as many leases as it takes',
  seconds: 40,
  sliceSeconds: 2,
  least: { WebSockets: 500 },
  bounds: {
    // 2,400 of them at 64 KB each, of which their TLS is the most; bench/results/carrier.md has what one takes.
    memoryGrowthMaxBytes: 192 * MB,
  },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const until = begin()
  const openingEnds = Date.now() + OPENING_SHARE * (until - Date.now())
  let next = 0
  let open = 0
  const opener = async (): Promise<void> => {
    while (next < LEASES && Date.now() < openingEnds) {
      const number = next
      next += 1
      const lease = await registerLease(target, `socket-${number}`, number).catch(() => undefined)
      for (let index = 0; lease && index < CARRIERS_PER_LEASE; index++)
        if (await upgraded(target, lease.reverse_endpoint.capability, number)) open += 1
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, opener))
  await untilThen(until)
  return { WebSockets: open, leases: next }
}

async function upgraded(target: Target, capability: string, number: number): Promise<boolean> {
  const { tls } = await openTls(target, target.rootHost, number)
  if (tls.destroyed) return false
  tls.write(webSocketRequest(target, capability))
  return await new Promise((resolve) => {
    tls.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1').startsWith(SWITCHING_PROTOCOLS)))
    tls.once('close', () => resolve(false))
  })
}
