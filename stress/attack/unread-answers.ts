// Readers who do not read: each asks for something large, again and again on its connection, and takes nothing of it. What
// the relay holds for them is all that they can make of it.
import { PATH } from '@svc/protocol'
import type { ClientAttack, Facts } from './attack.ts'
import { openTls, registerLease, type Target, untilThen } from './target.ts'

const MB = 1e6
/** Leases that make the answer of `/api/state` long: their pictures are as large as any relay takes them. */
const LEASES = 150
const THUMBNAIL = `data:image/png;base64,${'A'.repeat(16_000)}`
const READERS = 240
/** They have this many addresses. */
const ADDRESSES = 4
/** Requests of a reader, one behind the other, so that many small answers are one large one. */
const PIPELINED = 64
/** A site has a bound on its visitors; these are not to be more than it takes of one address. */
const TENANT_READERS = 12
/** A reader who was cut off comes again after this. */
const AGAIN_MS = 250
const AT_A_TIME = 16

const PATHS = [
  PATH.state,
  '/large.bin',
  '/api/install/bin/linux-amd64',
  PATH.openapi,
  '/assets/app-01234567.js',
]

export const attack: ClientAttack = {
  by: 'clients',
  what: 'readers ask for large answers and do not read them',
  seconds: 40,
  sliceSeconds: 3,
  least: { readers: READERS },
  bounds: {
    // 16 MiB of answers for each address and 16 MiB of pages (docs/decisions/0073-fair-shares-of-bounds.md), and what the TLS of 240
    // connections takes, at 0.4 MB each; the rest is room for the garbage of a thousand readers who were cut off.
    memoryGrowthMaxBytes: 256 * MB,
  },
  run,
}

async function run(target: Target, begin: () => number): Promise<Facts> {
  const until = begin()
  const leases = await fill(target, Math.min(until, Date.now() + (until - Date.now()) / 2))
  let cut = 0
  let open = 0
  const reader = async (number: number): Promise<void> => {
    const isTenant = number < TENANT_READERS
    const host = isTenant ? target.siteHost : target.rootHost
    const path = isTenant ? '/download' : PATHS[number % PATHS.length]!
    const request = `GET ${path} HTTP/1.1\r\nHost: ${host}:${target.port}\r\n\r\n`
    open += 1
    while (Date.now() < until) {
      const { tls, tcp } = await openTls(target, host, number % ADDRESSES)
      // Nobody listens for data: what fits into the buffers of this socket and of the kernel is all that is taken.
      tls.write(request.repeat(isTenant ? 1 : PIPELINED))
      await Promise.race([untilThen(until), new Promise((resolve) => tcp.once('close', resolve))])
      tcp.destroy()
      if (Date.now() < until) cut += 1
      await untilThen(Math.min(until, Date.now() + AGAIN_MS))
    }
  }
  await Promise.all(Array.from({ length: READERS }, (_, number) => reader(number)))
  return { readers: open, 'readers cut off': cut, 'leases listed': leases }
}

/** Makes the list of leases long. @returns how many were registered until `until` */
async function fill(target: Target, until: number): Promise<number> {
  let registered = 0
  let next = 0
  const registrant = async (): Promise<void> => {
    while (next < LEASES && Date.now() < until) {
      const number = next
      next += 1
      await registerLease(target, `long-${number}`, number % ADDRESSES, { thumbnail: THUMBNAIL }).then(
        () => {
          registered += 1
        },
        () => {},
      )
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, registrant))
  return registered
}
