// Visitors of a tunnel: transfers, questions and answers on kept connections, connections that come and go.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { median } from '../lib/alternate.ts'
import { wallSeconds } from '../lib/clock.ts'
import { CHUNK_BYTES, encodeRequest, MESSAGE_BYTES, WORK } from './work.ts'

/** The place to which visitors of a service go. */
export interface Entrance {
  port: number
  /** Visitors speak TLS: for this name, and the certificate of this authority. */
  tls?: { servername: string; ca: string }
}

export type Rank = 'p50' | 'p99'

const CHUNK = Buffer.alloc(CHUNK_BYTES, 7)
const MESSAGE = Buffer.alloc(MESSAGE_BYTES, 7)
const PERCENTILE = 0.99
const ANSWER_MAX_MS = 20_000

/** @returns MB/s of all streams together */
export async function download(entrance: Entrance, bytes: number, streams: number): Promise<number> {
  const part = Math.floor(bytes / streams)
  return megabytesPerSecond(bytes, streams, async () => {
    const socket = await enter(entrance)
    socket.write(encodeRequest(WORK.download, part))
    const got = await bytesUntilEnd(socket)
    if (got !== part) throw new Error(`${got} bytes came of ${part}`)
    socket.end()
  })
}

export async function upload(entrance: Entrance, bytes: number, streams: number): Promise<number> {
  const part = Math.floor(bytes / streams)
  return megabytesPerSecond(bytes, streams, async () => {
    const socket = await enter(entrance)
    socket.write(encodeRequest(WORK.upload, part))
    const answered = bytesUntilEnd(socket)
    for (let left = part; left > 0; left -= CHUNK.length)
      if (!socket.write(CHUNK.subarray(0, left))) await once(socket, 'drain')
    if ((await answered) !== 1) throw new Error(`the service did not get ${part} bytes`)
    socket.end()
  })
}

/** @returns answers per second on `connections` kept ones, one question at a time on each */
export async function answersPerSecond(
  entrance: Entrance,
  connections: number,
  seconds: number,
): Promise<number> {
  const callers = await Promise.all(Array.from({ length: connections }, () => Caller.enter(entrance)))
  const until = performance.now() + seconds * 1000
  let answers = 0
  const one = async (caller: Caller): Promise<void> => {
    for (; performance.now() < until; answers++) await caller.ask()
  }
  const took = await wallSeconds(() => Promise.all(callers.map(one)))
  for (const caller of callers) caller.leave()
  return answers / took
}

/** @returns visitors per second, each with a connection of its own and one answer, `atOnce` at a time */
export async function visitorsPerSecond(
  entrance: Entrance,
  atOnce: number,
  seconds: number,
): Promise<number> {
  const until = performance.now() + seconds * 1000
  let visitors = 0
  const one = async (): Promise<void> => {
    for (; performance.now() < until; visitors++) {
      const caller = await Caller.enter(entrance)
      await caller.ask()
      caller.leave()
    }
  }
  const all = (): Promise<unknown> => Promise.all(Array.from({ length: atOnce }, one))
  const took = await wallSeconds(() => inTime(all(), seconds * 1000 + ANSWER_MAX_MS))
  return visitors / took
}

/** A tunnel that loses a question must not stop a benchmark for ever. */
async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('a visitor got no answer')), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** @returns milliseconds from a question to its answer on one kept connection */
export async function roundTrip(entrance: Entrance, times: number, rank: Rank): Promise<number> {
  return ranked(await roundTrips(entrance, times), rank)
}

/** @returns milliseconds of each; fewer than `times` when that much time has passed */
export async function roundTrips(
  entrance: Entrance,
  times: number,
  withinMs: number = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const caller = await Caller.enter(entrance)
  await caller.ask()
  const waits: number[] = []
  const until = performance.now() + withinMs
  for (let start = 0; waits.length < times && start < until; ) {
    start = performance.now()
    await caller.ask()
    waits.push(performance.now() - start)
  }
  caller.leave()
  return waits
}

export function ranked(waits: number[], rank: Rank): number {
  if (rank === 'p50') return median(waits)
  return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * PERCENTILE)]!
}

/** Visitors who have been answered and stay. @returns lets them go */
export async function crowd(entrance: Entrance, count: number): Promise<() => void> {
  const callers: Caller[] = []
  for (let came = 0; came < count; came++) {
    const caller = await Caller.enter(entrance)
    await caller.ask()
    callers.push(caller)
  }
  return () => {
    for (const caller of callers) caller.leave()
  }
}

/** A connection to the echo, asked one thing at a time. */
class Caller {
  readonly #socket: Socket
  #left = 0
  #answered: (() => void) | undefined
  #broken: ((error: Error) => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#left -= chunk.length
      if (this.#left === 0) this.#answered?.()
    })
    socket.on('close', () => this.#broken?.(new Error('the tunnel cut a visitor off')))
  }

  static async enter(entrance: Entrance): Promise<Caller> {
    const socket = await enter(entrance)
    socket.write(encodeRequest(WORK.echo))
    return new Caller(socket)
  }

  ask(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#left = MESSAGE.length
      this.#answered = resolve
      this.#broken = reject
      this.#socket.write(MESSAGE)
    })
  }

  leave(): void {
    this.#broken = undefined
    this.#socket.end()
  }
}

async function enter({ port, tls }: Entrance): Promise<Socket> {
  const where = { host: '127.0.0.1', port, noDelay: true }
  const socket = tls ? connectTls({ ...where, ...tls }) : connect(where)
  await once(socket, tls ? 'secureConnect' : 'connect')
  socket.setNoDelay()
  socket.on('error', () => {})
  return socket
}

function bytesUntilEnd(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    socket.on('end', () => resolve(bytes))
    socket.on('close', () => reject(new Error(`the tunnel broke after ${bytes} bytes`)))
  })
}

async function megabytesPerSecond(bytes: number, streams: number, one: () => Promise<void>): Promise<number> {
  return bytes / 1e6 / (await wallSeconds(() => Promise.all(Array.from({ length: streams }, one))))
}
