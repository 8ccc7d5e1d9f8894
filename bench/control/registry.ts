// The registry under a crowd: how fast a name leads to its lease, what a lease costs, and how smoothly all expire.
import { CLIENT_HELLO_MAX_BYTES } from '@svc/protocol'
import { ClientHelloReader, parseClientHello } from '@svc/tls/messages'
import { median } from '../lib/alternate.ts'
import { cpuSeconds } from '../lib/clock.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'
import { recordClientHello } from '../tls/client-hello.ts'
import { type Crowd, collectedBytes, createCrowd, DIGITS, endCrowd, hostnameOf, PREFIX } from './leases.ts'

const CROWDS = [10, 1_000, 90_000] as const
const CROWD_MAX = 90_000
const LOOKUPS = 20_000
const STRIDE = 7_919
/** The factor by which a lookup may be slower with more leases. */
const SLOWDOWN_MAX = 1.3
const LEASE_MAX_KB = 4
const TURN_MAX_MS = 20
/** Longer than the crowd takes to make. */
const LIFE_MS = 4_000
/** Longer than any measurement here. */
const LONG_MS: number = 10 * 60_000

export async function* registry(runs: number): AsyncGenerator<Entry> {
  yield* lookups(runs)
  yield memory()
  yield await expiry(runs)
}

async function* lookups(runs: number): AsyncGenerator<Entry> {
  const crowds = CROWDS.map((count) => createCrowd(count, Date.now() + LONG_MS))
  const rates: number[][] = crowds.map(() => [])
  const hello = Buffer.from(await recordClientHello('X25519', hostnameOf(0)))
  for (const crowd of crowds) await lookupsPerSecond(crowd, hello)
  for (let run = 0; run < runs; run++)
    for (const [index, crowd] of crowds.entries()) rates[index]!.push(await lookupsPerSecond(crowd, hello))
  const [few, ...more] = rates.map(median)
  for (const [index, rate] of more.entries())
    yield compared(
      {
        name: `ClientHello to lease, ${CROWDS[index + 1]} leases`,
        unit: 'per CPU s',
        better: 'more',
        peer: `with ${CROWDS[0]} leases`,
        target: 1 / SLOWDOWN_MAX,
      },
      rate,
      few!,
    )
  for (const crowd of crowds) endCrowd(crowd)
}

/** Measures from the first bytes of a connection to its lease; the bytes are new each time, as those off a socket are. */
async function lookupsPerSecond({ routes, leases }: Crowd, hello: Buffer): Promise<number> {
  const digitsAt = hello.indexOf(PREFIX) + PREFIX.length
  const seconds = await cpuSeconds(() => {
    let number = 0
    for (let i = 0; i < LOOKUPS; i++) {
      // A stride that is prime to the number of leases visits them far apart.
      number = (number + STRIDE) % leases.size
      hello.write(String(number).padStart(DIGITS, '0'), digitsAt)
      const message = new ClientHelloReader({ maxBytes: CLIENT_HELLO_MAX_BYTES }).push(hello)
      const { serverName } = parseClientHello(message!)
      if (routes.resolve(serverName!) === undefined) throw new Error(`${serverName} is not found`)
    }
  })
  return LOOKUPS / seconds
}

function memory(): Entry {
  const before = collectedBytes()
  const crowd = createCrowd(CROWD_MAX, Date.now() + LONG_MS)
  const perLease = (collectedBytes() - before) / CROWD_MAX
  endCrowd(crowd)
  return limited(
    { name: `memory of a lease, of ${CROWD_MAX}`, unit: 'KB', better: 'less' },
    perLease / 1024,
    LEASE_MAX_KB,
  )
}

async function expiry(runs: number): Promise<Entry> {
  const turns: number[] = []
  for (let run = 0; run < runs; run++) {
    const crowd = createCrowd(CROWD_MAX, Date.now() + LIFE_MS)
    collectedBytes()
    turns.push(await longestTurnUntil(() => crowd.leases.size === 0))
  }
  return limited(
    { name: `${CROWD_MAX} leases expire at once, longest turn`, unit: 'CPU ms', better: 'less' },
    median(turns),
    TURN_MAX_MS,
  )
}

/** @returns the longest turn of the event loop, in milliseconds that this thread computed */
function longestTurnUntil(isDone: () => boolean): Promise<number> {
  return new Promise((resolve) => {
    let longest = 0
    let last = threadMs()
    const turn = (): void => {
      const now = threadMs()
      longest = Math.max(longest, now - last)
      last = now
      if (isDone()) resolve(longest)
      else setImmediate(turn)
    }
    setImmediate(turn)
  })
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
