// `network-process.ts COUNT`: so many relays start with one bootstrap relay, in simulated time, until everybody knows everybody.
import { recoverTextSigner } from '../../relay/src/core/auth/ethereum-signature.ts'
import { now } from '../../relay/src/core/clock.ts'
import { DISCOVERY_LIMITS } from '../../relay/src/features/discovery/limits.ts'
import { Network, SharedSignatures } from './network.ts'
import { elapsedMs, pass, simulateTime } from './simulated-time.ts'

/** A relay that does not know all after this many rounds has failed. */
const ROUNDS_MAX = 30
const MINUTE_MS = 60_000

export interface Convergence {
  minutes: number
  /** The share of pairs of relays of which one passes the other on. */
  known: number
  /** The questions of one relay, on average; `lists` and `bytes` are averages, too. */
  requests: number
  lists: number
  bytes: number
}

const count = Number(process.argv[2])
simulateTime()
const network = new Network()
for (let index = 0; index < count; index++) network.add()
const signatures = new SharedSignatures(async (...signed) => recoverTextSigner(...signed))
const bootstrap = network.members[0]!.origin
for (const member of network.members) network.discover(member, bootstrap, signatures)
for (const { discovery } of network.members) discovery!.start()
while (known() < 1 && elapsedMs() < ROUNDS_MAX * DISCOVERY_LIMITS.pollMs) {
  await pass()
  if (elapsedMs() % MINUTE_MS === 0)
    console.error(`        minute ${elapsedMs() / MINUTE_MS}: ${known().toFixed(4)} known`)
}
const mean = (figure: 'requests' | 'lists' | 'bytes'): number =>
  network.members.reduce((sum, { traffic }) => sum + traffic[figure], 0) / count
process.send!({
  minutes: elapsedMs() / MINUTE_MS,
  known: known(),
  requests: mean('requests'),
  lists: mean('lists'),
  bytes: mean('bytes'),
} satisfies Convergence)
process.disconnect!()

/** Returns the share of pairs. A relay is known before it is passed on, which takes less work to see. */
function known(): number {
  // Once in a second is enough.
  if (elapsedMs() % 1_000 !== 0) return 0
  const others = count - 1
  const pairs = network.members.map(({ discovery }) => {
    const { relays } = discovery!
    return relays.size < others ? relays.size : [...relays.current(now())].length
  })
  return pairs.reduce((sum, each) => sum + each, 0) / (count * others)
}
