// A carrier against a relay that speaks literal bytes over yamux: ready streams, demand, rejection, silence, end.

import { READY_SESSIONS_MAX } from '@svc/protocol'
import type { Stream } from '@svc/yamux'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Carrier, type CarrierEvents } from '../src/carrier/carrier.ts'
import type { Activation } from '../src/carrier/reverse-stream.ts'
import {
  CONNECTIONS_MAX,
  DEMAND_HALF_LIFE_MS,
  PING_DEADLINE_MS,
  READY_STREAMS_MIN,
  REPLACEMENT_PAUSE_MS,
  SILENCE_CHECK_MS,
  SILENCE_MAX_MS,
} from '../src/limits.ts'
import { readBytes, relaySide } from './support/memory.ts'

const CAPABILITY = 'capability.1'
const FRAME = Uint8Array.of(0, CAPABILITY.length, ...Buffer.from(CAPABILITY))
const TLS_MARKER = Uint8Array.of(0x02, ...new Uint8Array(16))

/** Accepted and idle, in the order of their acceptance. */
let ready: Stream[]
let answer: number | undefined
let relay: ReturnType<typeof relaySide>
let carrier: Carrier
let served: { activation: Activation; finish: () => void }[]
let events: { [K in keyof CarrierEvents]: ReturnType<typeof vi.fn> }

beforeEach(() => {
  vi.useFakeTimers()
  connect(0x00)
})
afterEach(() => {
  carrier.close()
  relay.session.close()
  vi.useRealTimers()
})

function connect(firstAnswer: number): void {
  ready = []
  served = []
  answer = firstAnswer
  relay = relaySide(async (stream) => {
    expect(await readBytes(stream, FRAME.length)).toEqual(FRAME)
    if (answer === undefined) return
    await stream.write(Uint8Array.of(answer))
    if (answer === 0x00) ready.push(stream)
  })
  events = {
    capability: vi.fn(() => CAPABILITY),
    serve: vi.fn((activation) => new Promise<void>((finish) => served.push({ activation, finish }))),
    traffic: vi.fn(),
    stale: vi.fn(),
    ended: vi.fn(),
  }
  carrier = new Carrier(relay.transport, events as unknown as CarrierEvents)
  relay.deliverTo((bytes) => carrier.message(bytes))
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)
/** A visitor comes: the relay takes the oldest ready stream. */
async function claim(): Promise<void> {
  await ready.shift()!.write(TLS_MARKER)
}

describe('ready streams', () => {
  it(`are ${READY_STREAMS_MIN} at the start, and the carrier is online with the first`, async () => {
    await carrier.online
    await settle()
    expect(ready).toHaveLength(READY_STREAMS_MIN)
    expect(events.traffic).toHaveBeenCalled()
  })

  it('the next is opened the moment one is claimed, while that one is still served', async () => {
    await settle()
    await claim()
    await settle()
    expect(served).toHaveLength(1)
    expect(ready).toHaveLength(READY_STREAMS_MIN)
  })

  it(`grow with demand, to READY_SESSIONS_MAX (${READY_SESSIONS_MAX}) and no further`, async () => {
    await settle()
    for (let burst = 0; burst < 6; burst++) {
      for (let left = ready.length; left > 0; left--) await claim()
      await settle()
    }
    expect(ready).toHaveLength(READY_SESSIONS_MAX)
  })

  it('are not replaced beyond what demand asks for, once it has gone', async () => {
    await settle()
    for (let burst = 0; burst < 6; burst++) {
      for (let left = ready.length; left > 0; left--) await claim()
      await settle()
    }
    await vi.advanceTimersByTimeAsync(DEMAND_HALF_LIFE_MS * 3)
    for (let left = READY_SESSIONS_MAX; left > READY_STREAMS_MIN; left--) {
      await claim()
      await settle()
      expect(ready).toHaveLength(left - 1)
    }
    await claim()
    await settle()
    expect(ready).toHaveLength(READY_STREAMS_MIN)
  })

  it('are not offered beyond CONNECTIONS_MAX connections, and again when one is over', async () => {
    await settle()
    for (let served = 0; served < CONNECTIONS_MAX; served++) {
      await claim()
      await settle()
    }
    expect(served).toHaveLength(CONNECTIONS_MAX)
    expect(ready).toHaveLength(0)
    served[0]!.finish()
    await settle()
    expect(ready).toHaveLength(1)
  })

  it('that the relay ends unused are replaced, but not in a hot loop', async () => {
    await settle()
    for (const stream of ready.splice(0)) await stream.end()
    await settle()
    expect(ready).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(REPLACEMENT_PAUSE_MS)
    expect(ready).toHaveLength(READY_STREAMS_MIN)
  })

  it('present the capability of now', async () => {
    await settle()
    expect(events.capability).toHaveBeenCalledTimes(READY_STREAMS_MIN)
    await claim()
    await settle()
    expect(events.capability).toHaveBeenCalledTimes(READY_STREAMS_MIN + 1)
  })
})

describe('rejection', () => {
  it('of the first stream fails the carrier', async () => {
    carrier.close()
    connect(0x01)
    await expect(carrier.online).rejects.toMatchObject({ code: 'stream_rejected' })
    await relay.closed
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('with others ready means that these are enough for now', async () => {
    await settle()
    answer = 0x01
    await claim()
    await settle()
    expect(ready).toHaveLength(READY_STREAMS_MIN - 1)
    expect(events.stale).not.toHaveBeenCalled()
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('with none ready asks for a renewal, and ends the carrier when that did not help', async () => {
    await settle()
    answer = 0x01
    for (let left = READY_STREAMS_MIN; left > 0; left--) await claim()
    await settle()
    expect(events.stale).toHaveBeenCalledOnce()
    expect(events.ended).not.toHaveBeenCalled()
    carrier.fill()
    await settle()
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'stream_rejected' }))
  })

  it('is forgotten once a stream is accepted again', async () => {
    await settle()
    answer = 0x01
    for (let left = READY_STREAMS_MIN; left > 0; left--) await claim()
    await settle()
    answer = 0x00
    carrier.fill()
    await settle()
    expect(ready.length).toBeGreaterThan(0)
    expect(events.ended).not.toHaveBeenCalled()
  })
})

describe('silence', () => {
  it('is broken by a ping; a relay that answers keeps the carrier', async () => {
    await settle()
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS * 10)
    expect(carrier.isClosed).toBe(false)
  })

  it('of a network that died ends the carrier in time', async () => {
    await settle()
    relay.cut()
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS + SILENCE_CHECK_MS + PING_DEADLINE_MS)
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'relay_unreachable' }),
    )
  })

  it('is found at once by a probe', async () => {
    await settle()
    relay.cut()
    carrier.probe()
    await vi.advanceTimersByTimeAsync(PING_DEADLINE_MS)
    expect(carrier.isClosed).toBe(true)
  })
})

describe('end', () => {
  it.each([
    [4001, 'lease_ended'],
    [4002, 'lease_replaced'],
    [1006, 'relay_unreachable'],
  ])('with close code %i is %s', async (code, expected) => {
    await settle()
    carrier.closed(code)
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: expected }))
  })

  it('before the first stream rejects `online` only', async () => {
    carrier.close()
    connect(0x00)
    carrier.closed(4001)
    await expect(carrier.online).rejects.toMatchObject({ code: 'lease_ended' })
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('comes with garbage from the relay, once, and leaves no timer', async () => {
    await settle()
    carrier.message(new Uint8Array(4096).fill(0xff))
    await settle()
    expect(events.ended).toHaveBeenCalledOnce()
    await relay.closed
    relay.session.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('by `close` is silent', async () => {
    await settle()
    carrier.close()
    await relay.closed
    carrier.closed(1000)
    expect(events.ended).not.toHaveBeenCalled()
  })
})
