// The cost of a client that sends the longest ClientHello byte by byte, as slowly as it can.
import { nodeCrypto } from '../../sdk-node/src/tls/node-crypto.ts'
import { alternate } from '../lib/alternate.ts'
import { cpuSeconds } from '../lib/clock.ts'
import { compared, type Entry } from '../lib/entry.ts'
import { padClientHello, recordClientHello } from './client-hello.ts'
import { flight, flightLength } from './flight.ts'
import type { Identity } from './identity.ts'

const HELLO_BYTES: number = 64 * 1024
const REPEATS = 20
const COST_MAX = 3

export async function drip({ config }: Identity, runs: number): Promise<Entry> {
  const hello = padClientHello(await recordClientHello('X25519'), HELLO_BYTES)
  const bytes = Array.from(hello, (_, at) => hello.subarray(at, at + 1))
  const ours = { ...config, crypto: nodeCrypto }
  const length = await flightLength(ours, [hello])
  const run = async (pieces: Uint8Array[]): Promise<number> => {
    const seconds = await cpuSeconds(async () => {
      for (let i = 0; i < REPEATS; i++) await flight(ours, pieces, length)
    })
    return (seconds / REPEATS) * 1000
  }
  const { dripped, whole } = await alternate(runs, { dripped: () => run(bytes), whole: () => run([hello]) })
  const name = '64 KiB ClientHello in 1-byte pieces'
  const peer = 'the same in one piece'
  return compared({ name, unit: 'CPU ms', better: 'less', peer, target: 1 / COST_MAX }, dripped, whole)
}
