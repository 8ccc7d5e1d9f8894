// Fuzzes the receiver of frames against `ws`: what it takes for messages, `ws` has to take for the same ones.

import type { Writable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import * as ws from 'ws'
import fc from '../../../tools/fast-check.ts'
import { WebSocketError } from '../../src/websocket/errors.ts'
import { MessageReader } from '../../src/websocket/message-reader.ts'
import { frame } from './client.ts'

/** Inputs tried at a time. */
const ROUND_RUNS = 200
const MAX_BYTES = 300
/** `ws` takes lengths that are not in their shortest form (RFC 6455 §5.2): from there on we need not agree. */
const STRICTER = 'error invalid_length'
/** Completes any header. */
const REST = new Uint8Array(14)
/** Messages, pings, and last a Close frame or an error. */
type Heard = string[]

/** What is behind the server of `ws`: it takes bytes without a connection, and its types leave it out. */
const { Receiver: WsReceiver } = ws as unknown as { Receiver: new (options: object) => Writable }

/** Fuzzes as long as `goesOn` says so of the runs that were made. Throws, with the bytes, on the first difference. */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  let runs = 0
  for (let round = 0; goesOn(runs); round++) {
    await fc.assert(fc.asyncProperty(input, check), { numRuns: ROUND_RUNS, seed: seed + round })
    runs += ROUND_RUNS
  }
  return { runs }
}

/** @throws Error when the two hear something else, or when it matters to us where the bytes are cut */
export async function check({ bytes, cuts }: { bytes: Uint8Array; cuts: number[] }): Promise<void> {
  const ours = hear(cut(bytes, cuts))
  const whole = hear([bytes])
  const theirs = await hearWs(bytes)
  if (isDeepStrictEqual(ours, whole) && agree(ours, theirs, bytes)) return
  const text = Buffer.from(bytes).toString('hex')
  throw new Error(`${text} is ${ours.join()} to us, ${whole.join()} in one piece, ${theirs.join()} to ws`)
}

function agree(ours: Heard, theirs: Heard, bytes: Uint8Array): boolean {
  if (isDeepStrictEqual(ours, theirs)) return true
  const before = ours.filter((heard) => heard !== STRICTER)
  if (!isDeepStrictEqual(before, theirs.slice(0, before.length))) return false
  if (before.length < ours.length) return true
  // `ws` refuses some headers before they are whole: then we do, too, once the rest has come.
  return theirs.length === ours.length + 1 && hear([bytes, REST]).length > ours.length
}

export function hear(pieces: Uint8Array[]): Heard {
  const heard: Heard = []
  const receiver = new MessageReader(MAX_BYTES, {
    text: (text) => heard.push(`text ${text}`),
    binary: (bytes) => heard.push(`binary ${Buffer.from(bytes).toString('hex')}`),
    ping: (payload) => heard.push(`ping ${Buffer.from(payload).toString('hex')}`),
    close: ({ code, reason }) => heard.push(`close ${code} ${reason}`),
    isPaused: () => false,
  })
  try {
    for (const piece of pieces) receiver.receive(piece)
  } catch (error) {
    if (!(error instanceof WebSocketError)) throw error
    heard.push(error.code === 'invalid_length' ? STRICTER : `error ${error.closeCode}`)
  }
  return heard
}

export async function hearWs(bytes: Uint8Array): Promise<Heard> {
  const heard: Heard = []
  const options = { isServer: true, maxPayload: MAX_BYTES, allowSynchronousEvents: true }
  const receiver = new WsReceiver(options)
  receiver.on('message', (data: Buffer, isBinary: boolean) =>
    heard.push(isBinary ? `binary ${data.toString('hex')}` : `text ${data}`),
  )
  receiver.on('ping', (payload: Buffer) => heard.push(`ping ${payload.toString('hex')}`))
  receiver.on('conclude', (code: number, reason: Buffer) => heard.push(`close ${code} ${reason}`))
  receiver.on('error', (error: Error) => heard.push(`error ${closeCodeOf(error)}`))
  await new Promise<void>((resolve) => {
    receiver.write(Buffer.from(bytes), () => resolve())
    receiver.on('conclude', () => resolve())
  })
  return heard
}

function closeCodeOf(error: Error): number {
  const { code } = error as Error & { code: string }
  if (code === 'WS_ERR_INVALID_UTF8') return 1007
  return /TOO_BIG|TOO_LONG|UNSUPPORTED_MESSAGE_LENGTH|UNSUPPORTED_DATA_PAYLOAD_LENGTH/.test(code)
    ? 1009
    : 1002
}

const usually = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: other })
const payload = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 12 }),
  fc.constantFrom(new Uint8Array(130), new Uint8Array(301)),
)
const closing = fc
  .tuple(fc.constantFrom(1000, 1005, 1012, 1015, 2999, 3000, 5000), payload)
  .map(([code, reason]) => ({
    opcode: 8,
    data: Buffer.concat([Buffer.from([code >> 8, code & 255]), reason]),
  }))
const other = fc.record({
  opcode: usually(fc.constantFrom(0, 1, 2, 9, 10), fc.nat(15)),
  data: payload,
})
const sent = fc
  .record({
    content: usually(other, closing),
    fin: fc.boolean(),
    rsv: usually(fc.constant(0), fc.nat(7)),
    masked: usually(fc.constant(true), fc.constant(false)),
  })
  .map(({ content: { opcode, data }, fin, rsv, masked }) =>
    frame(opcode, data, { fin: fin || opcode > 7, rsv, masked }),
  )
const mutation = fc.record({ at: fc.nat(), value: fc.nat(255) })
const input = fc
  .record({
    frames: fc.array(sent, { minLength: 1, maxLength: 6 }),
    mutations: fc.array(mutation, { maxLength: 2 }),
    cuts: fc.array(fc.nat(), { maxLength: 5 }),
  })
  .map(({ frames, mutations, cuts }) => {
    const bytes = Uint8Array.from(Buffer.concat(frames))
    for (const { at, value } of mutations) bytes[at % bytes.length] = value
    return { bytes, cuts }
  })

/** The bytes in pieces. */
function cut(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const at = cuts.map((value) => value % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length))
}
