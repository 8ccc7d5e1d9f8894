// yamux alone, both ends in one process: ours beside a limit and beside two other implementations on the same work.
import { alternate } from '../lib/alternate.ts'
import { wallSeconds } from '../lib/clock.ts'
import { compared, type Entry, limited } from '../lib/entry.ts'
import { libp2p, ours, type Transfer, yamuxJs } from './muxers.ts'

const LEAST_MB_PER_S = 800
const BYTES: number = 256 * 1024 * 1024

export async function* inMemory(runs: number): AsyncGenerator<Entry> {
  for (const streams of [1, 32]) {
    const speed = (transfer: Transfer) => async (): Promise<number> => {
      const seconds = await wallSeconds(() => transfer(streams, BYTES / streams))
      return BYTES / 1e6 / seconds
    }
    const found = await alternate(runs, {
      ours: speed(ours),
      libp2p: speed(libp2p),
      yamuxJs: speed(yamuxJs),
    })
    const name = `yamux in memory, ${streams} ${streams === 1 ? 'stream' : 'streams'}`
    const question = { name, unit: 'MB/s', better: 'more' } as const
    yield limited(question, found.ours, LEAST_MB_PER_S)
    yield compared({ ...question, peer: '@libp2p/yamux' }, found.ours, found.libp2p)
    yield compared({ ...question, peer: 'yamux-js' }, found.ours, found.yamuxJs)
  }
}
