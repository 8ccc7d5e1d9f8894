// One transfer through a bridge: streams opened, loaded in one direction, every byte counted, and all of it ended in order.
import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { Backend } from './backend.ts'
import { type Entrance, OPEN_CLIENTS } from './clients.ts'
import type { Kind } from './forward.ts'
import type { Next, Take } from './socket-end.ts'

export type Direction = 'in' | 'out'

export interface Path {
  kind: Kind
  entrance: Entrance
  backend: Backend
  streams: number
  /** `in` is to the service. */
  direction: Direction
}

interface Transferred {
  bytes: number
  seconds: number
}

/** Milliseconds after which a transfer is cut off, and so fails. */
const STALLED_MS = 60_000
const CHUNK = Buffer.alloc(256 * 1024, 7)
/** Bytes of an integrity check, in chunks of at most `CHECKED_CHUNK_MAX_BYTES`. */
const CHECKED_BYTES = 16_000_000
const CHECKED_CHUNK_MAX_BYTES = 300_000

/** @param goesOn asked before each chunk, when it is to be sent */
export async function transfer(path: Path, goesOn: () => boolean): Promise<Transferred> {
  let bytes = 0
  const next: Next = () => {
    if (!goesOn()) return undefined
    bytes += CHUNK.length
    return CHUNK
  }
  let received = 0
  const seconds = await move(path, next, (chunk) => {
    received += chunk.length
  })
  if (received !== bytes) throw new Error(`${received} bytes came of ${bytes}`)
  return { bytes, seconds }
}

/** @throws Error when what comes is not what was sent */
export async function checkIntegrity(path: Omit<Path, 'streams'>): Promise<void> {
  const random = randomBytes(CHECKED_CHUNK_MAX_BYTES)
  const [sent, received] = [createHash('sha256'), createHash('sha256')]
  let left = CHECKED_BYTES
  const next: Next = () => {
    if (left === 0) return undefined
    const chunk = random.subarray(0, Math.min(left, randomInt(1, CHECKED_CHUNK_MAX_BYTES)))
    left -= chunk.length
    sent.update(chunk)
    return chunk
  }
  await move({ ...path, streams: 1 }, next, (chunk) => received.update(chunk))
  if (sent.digest('hex') !== received.digest('hex')) throw new Error('what came is not what was sent')
}

/** @returns seconds from the first byte until each receiver has had its end */
async function move(
  { kind, entrance, backend, streams, direction }: Path,
  next: Next,
  take: Take,
): Promise<number> {
  const [accepted, clients] = await Promise.all([
    backend.accept(streams, take),
    OPEN_CLIENTS[kind](entrance, streams, take),
  ])
  const [senders, receivers] = direction === 'in' ? [clients.ends, accepted] : [accepted, clients.ends]
  const watchdog = setTimeout(() => clients.leave(), STALLED_MS)
  const start = performance.now()
  await Promise.all([...senders.map((end) => end.send(next)), ...receivers.map(({ ended }) => ended)])
  const seconds = (performance.now() - start) / 1000
  await Promise.all([
    ...receivers.map((end) => end.send(() => undefined)),
    ...senders.map(({ ended }) => ended),
  ])
  clearTimeout(watchdog)
  clients.leave()
  return seconds
}
