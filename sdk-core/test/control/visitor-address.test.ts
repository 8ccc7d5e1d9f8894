// The header that names a visitor's address: read in pieces of any size, and refused unless it is exactly what the protocol says.

import { CAPABILITY_DEADLINE_MS } from '@svc/protocol'
import { encodeProxyHeader } from '@svc/protocol/proxy-protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readVisitorAddress } from '../../src/control/visitor-address.ts'
import { FedStream } from '../support/memory.ts'

afterEach(() => {
  vi.useRealTimers()
})

const SOURCE = { address: '203.0.113.7', port: 4711 }
const DESTINATION = { address: '192.0.2.1', port: 443 }
const TRACE_ID = Uint8Array.from({ length: 16 }, (_, at) => at)

function framed(header: Uint8Array): Uint8Array {
  return Uint8Array.of(header.length >> 8, header.length & 0xff, ...header)
}

async function readFrom(...pieces: Uint8Array[]) {
  const stream = new FedStream().feed(...pieces.filter(({ length }) => length > 0)).finish()
  return readVisitorAddress({ binding: undefined, stream })
}

async function restOf(stream: { read(): Promise<Uint8Array | undefined> }): Promise<number[]> {
  const rest: number[] = []
  for (let chunk = await stream.read(); chunk; chunk = await stream.read()) rest.push(...chunk)
  return rest
}

describe('readVisitorAddress', () => {
  const ends = { source: SOURCE, destination: DESTINATION }
  const wire = Uint8Array.of(...framed(encodeProxyHeader({ ...ends, traceId: TRACE_ID })), 22, 3, 1)

  it.each(Array.from(wire, (_, at) => at))('names the visitor, cut at %i', async (at) => {
    const { visitor, stream } = await readFrom(wire.slice(0, at), wire.slice(at))
    const traceId = '000102030405060708090a0b0c0d0e0f'
    expect(visitor!.remote).toEqual({ ...SOURCE, reportedBy: 'relay', traceId })
    expect(visitor!.ends).toMatchObject(ends)
    expect(await restOf(stream)).toEqual([22, 3, 1])
  })

  it('knows nobody by LOCAL', async () => {
    const local = framed(encodeProxyHeader({ source: undefined, destination: undefined, traceId: TRACE_ID }))
    const { visitor, stream } = await readFrom(Uint8Array.of(...local, 7))
    expect(visitor!.remote).toBeUndefined()
    expect(await restOf(stream)).toEqual([7])
  })

  const header = encodeProxyHeader(ends)
  it.each([
    ['nothing', new Uint8Array()],
    ['half a length', Uint8Array.of(0)],
    ['a header that is cut off', framed(header).slice(0, -1)],
    ['a TLS record in its place', Uint8Array.of(22, 3, 1, 2, 0, ...new Uint8Array(600))],
    ['a length that is too short', Uint8Array.of(0, 15, ...header)],
    ['a length that is too long', Uint8Array.of(0, 200, ...header, ...new Uint8Array(200))],
    ['two lengths that differ', Uint8Array.of(0, header.length + 1, ...header, 0)],
    ['another signature', framed(header.map((byte, at) => (at === 3 ? byte ^ 1 : byte)))],
    ['version 1', framed(Uint8Array.from(Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n')))],
    ['UDP', framed(header.map((byte, at) => (at === 13 ? 0x12 : byte)))],
  ])('protocol §9.4.3: refuses %s', async (_, bytes) => {
    await expect(readFrom(bytes)).rejects.toThrow()
  })

  it('protocol §9.4.3: refuses a header that does not come in time', async () => {
    vi.useFakeTimers()
    const stream = new FedStream().feed(framed(header).slice(0, 10))
    const reading = expect(readVisitorAddress({ binding: undefined, stream })).rejects.toThrow('in time')
    await vi.advanceTimersByTimeAsync(CAPABILITY_DEADLINE_MS)
    await reading
  })
})
