// Fuzzes the server of HTTP/2: frames in any order, broken and whole; it has to go on or to end in order, and be bounded.

import fc from '../../../tools/fast-check.ts'
import { HpackDecoder } from '../../src/hpack/decoder.ts'
import { HpackEncoder } from '../../src/hpack/encoder.ts'
import { HpackError } from '../../src/hpack/error.ts'
import { STREAMS_MAX } from '../../src/http2/limits.ts'
import { Visitor } from './visitor.ts'
import {
  block,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  HEADERS,
  PREFACE,
  request,
  settings,
  uint32,
  WHOLE,
} from './wire.ts'

/** Connections tried at a time. */
const ROUND_RUNS = 100

/** Fuzzes as long as `goesOn` says so of the runs that were made. Throws, with what was sent, on the first finding. */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  let runs = 0
  for (let round = 0; goesOn(runs); round++) {
    const options = { numRuns: ROUND_RUNS, seed: seed + round }
    await fc.assert(fc.asyncProperty(conversation, converse), options)
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), decode), options)
    fc.assert(fc.property(fc.array(fields, { maxLength: 8 }), roundTrip), options)
    runs += 3 * ROUND_RUNS
  }
  return { runs }
}

const oneOf = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const streamId = fc.oneof({ weight: 8, arbitrary: oneOf(1, 3, 5, 7) }, oneOf(0, 2, 9, 2 ** 31 - 1))
const flags = fc.oneof(oneOf(0, END_STREAM, END_HEADERS, WHOLE), fc.nat(255))
const number = oneOf(0, 1, 100, 65_535, 2 ** 31 - 1, 2 ** 32 - 1)

const changes = oneOf<Record<string, string>>(
  {},
  { ':method': 'POST' },
  { ':method': 'POST', 'content-length': '5' },
  { ':method': 'POST', expect: '100-continue' },
  { ':method': 'CONNECT', ':protocol': 'websocket', 'sec-websocket-version': '13' },
  { ':method': 'HEAD' },
  { ':path': '' },
  { ':authority': 'other.example' },
  { connection: 'close' },
  { 'X-Upper': 'a' },
  { 'x-long': 'v'.repeat(1000) },
)
const headers = fc
  .tuple(streamId, changes, fc.oneof({ weight: 9, arbitrary: oneOf(WHOLE, END_HEADERS) }, flags))
  .map(([id, change, flag]) => frame(HEADERS, flag, id, block(request(change))))
const data = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: oneOf(0, END_STREAM) }, flags),
    streamId,
    fc.uint8Array({ maxLength: 20 }),
  )
  .map(([flag, id, payload]) => frame(DATA, flag, id, payload))
/** RST_STREAM and WINDOW_UPDATE. */
const numbers = fc
  .tuple(oneOf(3, 8), streamId, number)
  .map(([type, id, value]) => frame(type, 0, id, uint32(value)))
const setting = fc.array(fc.tuple(fc.nat(9), number), { maxLength: 3 }).map((entries) => settings(...entries))
const any = fc
  .tuple(fc.nat(11), flags, streamId, fc.uint8Array({ maxLength: 30 }))
  .map(([type, flag, id, payload]) => frame(type, flag, id, payload))
const good = fc.oneof(
  { weight: 4, arbitrary: headers },
  { weight: 3, arbitrary: data },
  { weight: 2, arbitrary: numbers },
  setting,
)
const piece = fc.oneof(
  { weight: 20, arbitrary: good },
  { weight: 2, arbitrary: any },
  fc.uint8Array({ maxLength: 20 }),
)
const conversation = fc.record({
  pieces: fc.array(piece, { maxLength: 30 }),
  cuts: fc.array(fc.nat(), { maxLength: 6 }),
})

/** Whatever comes: every frame of ours is whole, streams are bounded, and the connection ends when the visitor does. */
async function converse({ pieces, cuts }: { pieces: Uint8Array[]; cuts: number[] }): Promise<void> {
  const visitor = new Visitor(async (request, info) => {
    if (request.headers.has('upgrade')) return info.upgrade(request).response
    return new Response(request.method === 'POST' ? request.body : 'ok')
  })
  const bytes = Buffer.concat([PREFACE, settings(), ...pieces])
  const at = cuts.map((value) => value % (bytes.length + 1)).sort((a, b) => a - b)
  for (const [i, start] of [0, ...at].entries())
    await visitor.send(bytes.subarray(start, at[i] ?? bytes.length))
  await visitor.end()
  // Requests without an end would be waited for: what a visitor that ended gets is bounded by time, so this one leaves.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  visitor.stream.abort(new Error('the visitor leaves'))
  await visitor.served
  if (visitor.requests.length > STREAMS_MAX) throw new Error('more streams than were allowed')
  if (visitor.errors.length > 0) throw visitor.errors[0]
  checkFrames(Buffer.concat(visitor.server.writes))
}

function checkFrames(bytes: Buffer): void {
  let at = 0
  let last = 0
  while (at + 9 <= bytes.length) {
    if (last === GOAWAY && bytes[at + 3] === GOAWAY) throw new Error('two GOAWAYs')
    last = bytes[at + 3]!
    at += 9 + bytes.readUIntBE(at, 3)
  }
  if (at !== bytes.length) throw new Error('a frame that is not whole')
}

/** Blocks of noise: fields, or an error that says so. */
function decode(blocks: Uint8Array[]): void {
  const decoder = new HpackDecoder()
  for (const one of blocks) {
    try {
      decoder.decode(one, () => {})
    } catch (error) {
      if (error instanceof HpackError) return
      throw error
    }
  }
}

const name = fc.stringMatching(/^[a-z-]{1,12}$/)
const value = fc.oneof(oneOf('', 'a', 'gzip, deflate', '200'), fc.stringMatching(/^[ -~\xa0-\xff]{0,200}$/))
const fields = fc.tuple(
  fc.array(fc.tuple(fc.oneof(name, oneOf(':status', 'content-type', 'set-cookie', 'date')), value), {
    maxLength: 12,
  }),
  fc.option(fc.nat(5000)),
)

/** What the encoder makes the decoder understands, through changes of the table's size. */
function roundTrip(blocks: [[string, string][], number | null][]): void {
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder()
  for (const [list, size] of blocks) {
    if (size !== null) encoder.resize(size)
    const decoded: [string, string][] = []
    decoder.decode(encoder.encode(list), (key, text) => decoded.push([key, text]))
    if (JSON.stringify(decoded) !== JSON.stringify(list))
      throw new Error(`${JSON.stringify(list)} became ${JSON.stringify(decoded)}`)
  }
}
