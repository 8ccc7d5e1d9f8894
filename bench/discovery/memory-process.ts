// `memory-process.ts COUNT RUNS`: what one relay that knows this many adds to the memory of its process, in simulated time. A relay starts
// and ends several times, since the first ones also compile code.
import { recoverTextSigner } from '../../relay/src/core/auth/ethereum-signature.ts'
import { AwaitedSignatures, type Member, Network } from './network.ts'
import { elapsedMs, pass, simulateTime } from './simulated-time.ts'

const MINUTE_MS = 60_000
/** After this many milliseconds every relay is known, and was asked. */
const SETTLE_MS = 15 * MINUTE_MS
/** After this many milliseconds the timers of a relay that ended are forgotten, which hold it. */
const REST_MS = 15 * MINUTE_MS

export interface Memory {
  known: number
  /** Bytes of the heap and of buffers by which the process grew at most. */
  grown: number
}

const [count, runs] = process.argv.slice(2).map(Number) as [number, number]
simulateTime()
const network = new Network({ knowsAll: true })
for (let index = 0; index < count; index++) network.add()
const member = network.add()
let known = 0
let grown = 0
await live(member)
for (let run = 0; run < runs; run++) grown = Math.max(grown, await live(member))
process.send!({ known, grown } satisfies Memory)
process.disconnect!()

/** @returns bytes */
async function live(one: Member): Promise<number> {
  const before = weigh()
  const signatures = new AwaitedSignatures(async (...signed) => recoverTextSigner(...signed))
  const discovery = network.discover(one, network.members[0]!.origin, signatures)
  discovery.start()
  await until(elapsedMs() + SETTLE_MS)
  const after = weigh()
  known = discovery.relays.size
  discovery.close()
  one.discovery = undefined
  await until(elapsedMs() + REST_MS)
  return after - before
}

async function until(ms: number): Promise<void> {
  while (elapsedMs() < ms) await pass()
}

function weigh(): number {
  globalThis.gc!()
  globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
