// A carrier against a relay that speaks literal bytes over yamux: ready streams, demand, rejection, silence, load, end.

import { READY_SESSIONS_MAX } from '@svc/protocol'
import type { Stream } from '@svc/yamux'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Traffic } from '../../src/carrier/carrier-connection.ts'
import type { ConnectionEvents } from '../../src/carrier/connection-transport.ts'
import {
  CARRIER_CONNECTIONS_MAX,
  type CarrierEvents,
  CONNECTION_STREAMS_MANY,
  CONNECTION_STREAMS_MAX,
  type Connect,
  MAINTENANCE_INTERVAL_MS,
  MultiplexedCarrier,
  SCALE_DOWN_IDLE_MS,
  SCALE_UP_PAUSE_MS,
} from '../../src/carrier/multiplexed-carrier.ts'
import {
  DEMAND_HALF_LIFE_MS,
  READY_STREAMS_MIN,
  REJECTION_PAUSE_MS,
  REPLACEMENT_PAUSE_MS,
} from '../../src/carrier/ready-streams.ts'
import type { Activation } from '../../src/carrier/reverse-stream.ts'
import { PING_DEADLINE_MS, SILENCE_MAX_MS } from '../../src/carrier/watchdog.ts'
import { readBytes, relaySide } from '../support/memory.ts'

const CAPABILITY = 'capability.1'
const FRAME = Uint8Array.of(0, CAPABILITY.length, ...Buffer.from(CAPABILITY))
const TLS_MARKER = Uint8Array.of(0x02, ...new Uint8Array(16))

/** Accepted and idle, in the order of their acceptance. */
let ready: Stream[]
let answer: number | undefined
/** The relay's ends of the WebSockets, in the order of their opening, and ours. */
let relays: ReturnType<typeof relaySide>[]
let links: ConnectionEvents[]
let carrier: MultiplexedCarrier
let served: { activation: Activation; finish: () => void }[]
/** Visitors that the site may have at once. */
let connectionsMax: number
let events: { [K in keyof CarrierEvents]: ReturnType<typeof vi.fn> }
let traffic: Traffic
let diesAtOnce: boolean
let isRefused: boolean

beforeEach(() => {
  vi.useFakeTimers()
  start(0x00)
})
afterEach(() => {
  carrier.close()
  for (const relay of relays) relay.session.close()
  vi.useRealTimers()
})

function start(firstAnswer: number): void {
  ready = []
  served = []
  relays = []
  links = []
  diesAtOnce = false
  isRefused = false
  connectionsMax = 10_000
  let here = 0
  answer = firstAnswer
  events = {
    capability: vi.fn(() => CAPABILITY),
    hasRoomFor: vi.fn((visitors) => here + visitors <= connectionsMax),
    serve: vi.fn(async (activation) => {
      here += 1
      await new Promise<void>((finish) => served.push({ activation, finish }))
      here -= 1
    }),
    traffic: vi.fn(),
    stale: vi.fn(),
    admits: vi.fn(),
    ended: vi.fn(),
    debug: vi.fn(),
  }
  traffic = { bytesIn: 0, bytesOut: 0 }
  carrier = new MultiplexedCarrier(
    { kind: 'websocket', connect },
    traffic,
    events as unknown as CarrierEvents,
  )
}

const connect: Connect = async (attach) => {
  if (isRefused) throw new Error('refused')
  const relay = relaySide(admit)
  relays.push(relay)
  const link = attach(relay.transport)
  links.push(link)
  relay.deliverTo((bytes) => link.message(bytes))
  if (diesAtOnce) link.closed(1006)
  return link
}

async function admit(stream: Stream): Promise<void> {
  expect(await readBytes(stream, FRAME.length)).toEqual(FRAME)
  if (answer === undefined) return
  await stream.write(Uint8Array.of(answer))
  if (answer !== 0x00) return
  ready.push(stream)
  stream.closed.then(() => {
    ready = ready.filter((other) => other !== stream)
  })
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)
/** A visitor comes: the relay takes the youngest ready stream. */
async function claim(): Promise<void> {
  await ready.pop()!.write(TLS_MARKER)
}
/** What the relay writes on streams that wait. */
async function keepalive(): Promise<void> {
  for (const stream of ready) stream.write(Uint8Array.of(0x00))
  await settle()
}
/** Visitors come faster than streams are replaced. */
async function burst(): Promise<void> {
  for (let round = 0; round < 6; round++) {
    for (let left = ready.length; left > 0; left--) await claim()
    await settle()
  }
}

/** Those who are served go. */
function leave(): void {
  for (const { activation, finish } of served.splice(0)) {
    activation.stream.abort()
    finish()
  }
}

describe('ready streams', () => {
  it(`are ${READY_STREAMS_MIN} at the start, and the carrier is online with the first`, async () => {
    await carrier.online
    await settle()
    expect(ready).toHaveLength(READY_STREAMS_MIN)
    expect(events.traffic).toHaveBeenCalled()
  })

  it('the next is opened the moment one is claimed, while that one is still served (protocol §7.5.7)', async () => {
    await settle()
    await claim()
    await settle()
    expect(served).toHaveLength(1)
    expect(ready).toHaveLength(READY_STREAMS_MIN)
  })

  it(`grow with demand, to READY_SESSIONS_MAX (${READY_SESSIONS_MAX}) and no further`, async () => {
    await settle()
    await burst()
    expect(ready).toHaveLength(READY_SESSIONS_MAX)
  })

  it('that demand no longer asks for stay for the visitors to come, and are not replaced', async () => {
    await settle()
    await burst()
    const surplus = [...ready]
    for (let quiet = 0; quiet < 4; quiet++) {
      await vi.advanceTimersByTimeAsync(DEMAND_HALF_LIFE_MS)
      await keepalive()
    }
    expect(ready).toEqual(surplus)
    const before = served.length
    for (let left = READY_SESSIONS_MAX; left > READY_STREAMS_MIN; left--) await claim()
    await settle()
    expect(ready).toHaveLength(READY_STREAMS_MIN)
    expect(served).toHaveLength(before + READY_SESSIONS_MAX - READY_STREAMS_MIN)
  })

  it('serve every visitor of a relay that hands out the oldest first and watches none, after a quiet minute', async () => {
    await settle()
    await burst()
    const queue = [...ready]
    await vi.advanceTimersByTimeAsync(DEMAND_HALF_LIFE_MS)
    await keepalive()
    await settle()
    const before = served.length
    const writes = queue.slice(0, 6).map((stream) => stream.write(TLS_MARKER))
    const lost = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected')
    await settle()
    expect([lost.length, served.length - before]).toEqual([0, 6])
  })

  it('are not offered to more visitors than there is room for, and again when one has left', async () => {
    connectionsMax = 256
    await settle()
    for (let served = 0; served < connectionsMax; served++) {
      await claim()
      await settle()
    }
    expect(served).toHaveLength(connectionsMax)
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
    start(0x01)
    await expect(carrier.online).rejects.toMatchObject({ code: 'stream_rejected' })
    await relays[0]!.closed
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

  it('with others ready is not for ever: the relay is asked again, no visitor needed', async () => {
    await settle()
    answer = 0x01
    await claim()
    await settle()
    for (let round = 0; round < 3; round++) {
      const before = events.capability.mock.calls.length
      await vi.advanceTimersByTimeAsync(REJECTION_PAUSE_MS)
      await keepalive()
      await keepalive()
      expect(events.capability).toHaveBeenCalledTimes(before + 1)
    }
    answer = 0x00
    await vi.advanceTimersByTimeAsync(REJECTION_PAUSE_MS)
    await keepalive()
    expect(ready).toHaveLength(READY_STREAMS_MIN)
  })

  it('with none ready asks for a renewal, and ends the carrier when that did not help', async () => {
    await settle()
    answer = 0x01
    for (let left = READY_STREAMS_MIN; left > 0; left--) await claim()
    await settle()
    expect(events.stale).toHaveBeenCalledOnce()
    expect(events.admits.mock.calls).toEqual([[false]])
    expect(events.ended).not.toHaveBeenCalled()
    carrier.fill()
    await settle()
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'stream_rejected' }))
  })

  it('with none ready is not for ever where no renewal follows: the relay is asked again', async () => {
    await settle()
    answer = 0x01
    for (let left = READY_STREAMS_MIN; left > 0; left--) await claim()
    await settle()
    answer = 0x00
    await vi.advanceTimersByTimeAsync(REJECTION_PAUSE_MS)
    relays[0]!.session.ping().catch(() => {})
    await settle()
    expect(events.admits.mock.calls).toEqual([[false], [true]])
    expect(carrier.stats.readyStreams).toBeGreaterThanOrEqual(READY_STREAMS_MIN)
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
    expect(events.admits.mock.calls).toEqual([[false], [true]])
    expect(events.ended).not.toHaveBeenCalled()
  })
})

describe('silence', () => {
  it('is broken by a ping; a relay that answers keeps the carrier', async () => {
    await settle()
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS * 10)
    expect(carrier.isClosed).toBe(false)
  })

  it('of a network that died ends the carrier in less than 20 s', async () => {
    await settle()
    relays[0]!.cut()
    expect(SILENCE_MAX_MS + PING_DEADLINE_MS).toBeLessThan(20_000)
    await vi.advanceTimersByTimeAsync(SILENCE_MAX_MS + PING_DEADLINE_MS)
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'relay_unreachable' }),
    )
  })

  it('is found at once by a probe', async () => {
    await settle()
    relays[0]!.cut()
    carrier.probe()
    await vi.advanceTimersByTimeAsync(PING_DEADLINE_MS)
    expect(carrier.isClosed).toBe(true)
  })
})

describe('more WebSockets', () => {
  /** Our sending end is full all the time, or is not; the relay is heard all the same. */
  async function load(isFull: boolean, rounds = 8): Promise<void> {
    for (const relay of relays) relay.saturate(isFull)
    for (let round = 0; round < rounds; round++) {
      for (const { activation } of served) activation.stream.write(new Uint8Array(100)).catch(() => {})
      await keepalive()
      await vi.advanceTimersByTimeAsync(SCALE_UP_PAUSE_MS / 4)
    }
  }

  /** A second WebSocket comes, is used, and is to go because there is no need of it any more. */
  async function retireSecond(): Promise<void> {
    await settle()
    await burst()
    await load(true)
    relays[1]!.saturate(false)
    // the next ready stream is opened there
    await claim()
    await settle()
    for (let waited = 0; waited < 2 * SCALE_DOWN_IDLE_MS; waited += 2 * SCALE_UP_PAUSE_MS) await load(false)
  }

  it(`come while one is saturated and visitors are many, ${CARRIER_CONNECTIONS_MAX} at most`, async () => {
    await settle()
    await burst()
    for (let round = 0; round < CARRIER_CONNECTIONS_MAX * 2; round++) {
      await load(true)
      // the next ready streams are opened on the newest
      relays.at(-1)!.saturate(false)
      await claim()
      await settle()
    }
    expect(relays).toHaveLength(CARRIER_CONNECTIONS_MAX)
    expect(carrier.stats.webSockets).toBe(CARRIER_CONNECTIONS_MAX)
    for (const { session } of relays) expect(session.streamCount).toBeGreaterThan(0)
  })

  it('do not come for one visitor, nor for many on one that drains', async () => {
    await settle()
    await claim()
    await settle()
    for (let round = 0; round < 4; round++) await load(true)
    await load(false)
    await burst()
    for (let round = 0; round < 4; round++) await load(false)
    expect(relays).toHaveLength(1)
  })

  /** So many visitors more, one after the other. */
  async function crowd(count: number): Promise<void> {
    for (let come = 0; come < count; come++) {
      if (ready.length === 0) await vi.advanceTimersByTimeAsync(REPLACEMENT_PAUSE_MS)
      await claim()
      await settle()
    }
  }
  const streams = (): number[] => relays.map(({ session }) => session.streamCount)

  it('come before one has as many streams as a relay takes, which is more than any gets', async () => {
    await vi.advanceTimersByTimeAsync(SCALE_UP_PAUSE_MS)
    await crowd(CONNECTION_STREAMS_MANY - READY_STREAMS_MIN)
    expect(relays).toHaveLength(1)
    await crowd(READY_STREAMS_MIN + 1)
    expect(relays).toHaveLength(2)
    // the new one has the most to give
    await crowd(CONNECTION_STREAMS_MANY)
    expect(Math.min(...streams())).toBeGreaterThan(CONNECTION_STREAMS_MANY - 10)
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('have no more streams than a relay takes, also where no other can be had', async () => {
    await vi.advanceTimersByTimeAsync(SCALE_UP_PAUSE_MS)
    isRefused = true
    await crowd(CONNECTION_STREAMS_MAX)
    await vi.advanceTimersByTimeAsync(10 * REPLACEMENT_PAUSE_MS)
    expect([served.length, ...streams()]).toEqual([CONNECTION_STREAMS_MAX, CONNECTION_STREAMS_MAX])
    isRefused = false
    await vi.advanceTimersByTimeAsync(SCALE_UP_PAUSE_MS + REPLACEMENT_PAUSE_MS)
    expect([relays.length, streams()[0]]).toEqual([2, CONNECTION_STREAMS_MAX])
    expect(ready.length).toBeGreaterThanOrEqual(READY_STREAMS_MIN)
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('stay while one less would be crowded', async () => {
    await vi.advanceTimersByTimeAsync(SCALE_UP_PAUSE_MS)
    await crowd(CONNECTION_STREAMS_MANY + 2)
    for (const { activation, finish } of served.splice(0, 200)) {
      activation.stream.abort()
      finish()
    }
    for (let waited = 0; waited < 2 * SCALE_DOWN_IDLE_MS; waited += SCALE_UP_PAUSE_MS) {
      await vi.advanceTimersByTimeAsync(SCALE_UP_PAUSE_MS)
      await keepalive()
    }
    const [first, second] = streams()
    await crowd(4)
    // the one with the least to do would get none if it were to go
    expect(streams()).toEqual([first, second! + 4])
  })

  it('get no more streams when they are idle, and go when the last stream on them was used', async () => {
    await settle()
    await burst()
    await load(true)
    expect(carrier.stats.webSockets).toBe(2)
    leave()
    const surplus = [...ready]
    for (let waited = 0; waited < 4 * SCALE_DOWN_IDLE_MS; waited += 2 * SCALE_UP_PAUSE_MS) await load(false)
    // a relay may hand out any of them at this moment
    expect(ready).toEqual(surplus)
    for (const stream of surplus) {
      await stream.write(TLS_MARKER)
      await settle()
    }
    leave()
    await load(false)
    expect(carrier.stats.webSockets).toBe(1)
    expect(carrier.stats.readyStreams).toBe(READY_STREAMS_MIN)
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('that were to go are taken again when they are needed again', async () => {
    await retireSecond()
    await load(true, 3)
    relays[1]!.saturate(false)
    const before = relays[1]!.session.streamCount
    await burst()
    expect(relays[1]!.session.streamCount).toBeGreaterThan(before)
    expect([relays.length, carrier.stats.webSockets]).toEqual([2, 2])
  })

  it('that were to go stay when the others break', async () => {
    await retireSecond()
    await claim()
    await settle()
    leave()
    await settle()
    expect(relays[1]!.session.streamCount).toBe(0)
    links[0]!.closed(1006)
    await vi.advanceTimersByTimeAsync(MAINTENANCE_INTERVAL_MS)
    relays[1]!.session.ping().catch(() => {})
    await settle()
    await vi.advanceTimersByTimeAsync(REPLACEMENT_PAUSE_MS)
    expect(events.ended).not.toHaveBeenCalled()
    expect(carrier.stats.webSockets).toBe(1)
    expect(carrier.stats.readyStreams).toBeGreaterThanOrEqual(READY_STREAMS_MIN)
  })

  it('break one by one; the carrier ends with the last', async () => {
    await settle()
    await burst()
    await load(true)
    links[0]!.closed(1006)
    await vi.advanceTimersByTimeAsync(REPLACEMENT_PAUSE_MS)
    expect(events.ended).not.toHaveBeenCalled()
    expect(ready.length).toBeGreaterThanOrEqual(READY_STREAMS_MIN)
    links[1]!.closed(1006)
    expect(events.ended).toHaveBeenCalledOnce()
  })

  it('that end at once are none', async () => {
    await settle()
    await burst()
    diesAtOnce = true
    await load(true)
    expect(relays.length).toBeGreaterThan(1)
    expect(carrier.stats.webSockets).toBe(1)
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('all go with the lease', async () => {
    await settle()
    await burst()
    await load(true)
    links[1]!.closed(4001)
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'lease_ended' }))
    expect(carrier.stats.webSockets).toBe(0)
  })
})

describe('drain', () => {
  it('gives up what is ready, takes no visitor, and waits for those who are here', async () => {
    await settle()
    await claim()
    await settle()
    const done = vi.fn()
    carrier.drain().then(done)
    await settle()
    expect(ready).toHaveLength(0)
    expect(done).not.toHaveBeenCalled()
    served[0]!.finish()
    await settle()
    expect(done).toHaveBeenCalledOnce()
    expect(ready).toHaveLength(0)
  })

  it('is done at once when nobody is here', async () => {
    await settle()
    await carrier.drain()
    expect(carrier.stats).toMatchObject({ openStreams: 0, readyStreams: 0 })
  })
})

describe('stats', () => {
  it('count bytes both ways, and know the round trip', async () => {
    await settle()
    const { bytesIn, bytesOut } = { ...traffic }
    expect(bytesOut).toBeGreaterThan(READY_STREAMS_MIN * FRAME.length)
    await ready[0]!.write(new Uint8Array(1000))
    await settle()
    expect(traffic.bytesIn - bytesIn).toBe(1000 + 12)
    expect(carrier.stats.rttMs).toBeGreaterThanOrEqual(0)
  })
})

describe('end', () => {
  it.each([
    [4001, 'lease_ended'],
    [4002, 'lease_replaced'],
    [1006, 'relay_unreachable'],
  ])('with close code %i is %s (protocol §7.6.1, §7.6.2, §7.6.5)', async (code, expected) => {
    await settle()
    links[0]!.closed(code)
    expect(events.ended).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: expected }))
  })

  it('before the first stream rejects `online` only', async () => {
    carrier.close()
    start(0x00)
    await Promise.resolve()
    links[0]!.closed(4001)
    await expect(carrier.online).rejects.toMatchObject({ code: 'lease_ended' })
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('comes with garbage from the relay, once, and leaves no timer', async () => {
    await settle()
    links[0]!.message(new Uint8Array(4096).fill(0xff))
    await settle()
    expect(events.ended).toHaveBeenCalledOnce()
    await relays[0]!.closed
    relays[0]!.session.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('by `close` is silent', async () => {
    await settle()
    carrier.close()
    await relays[0]!.closed
    links[0]!.closed(1000)
    expect(events.ended).not.toHaveBeenCalled()
  })
})

describe('a machine of the relay that leaves', () => {
  /** The relay takes no more streams at the first connection, and ends those that wait. */
  async function machineLeaves(): Promise<void> {
    const waiting = ready
    ready = []
    relays[0]!.session.goAway()
    for (const stream of waiting) stream.abort()
    await settle()
  }

  it('keeps its visitors to their end, and streams for the next ones are ready elsewhere at once (protocol §7.6.4)', async () => {
    await settle()
    await claim()
    await settle()
    await machineLeaves()
    expect(relays).toHaveLength(2)
    expect(ready).toHaveLength(READY_STREAMS_MIN)
    const [visitor] = served
    await visitor!.activation.stream.write(Uint8Array.of(1))
    expect(carrier.isClosed).toBe(false)
    leave()
    links[0]!.closed(1000)
    await settle()
    expect(events.ended).not.toHaveBeenCalled()
    expect(carrier.stats.webSockets).toBe(1)
  })

  it('has no visitors, so that its connection ends: the site goes elsewhere without a word', async () => {
    await settle()
    await machineLeaves()
    expect(relays).toHaveLength(2)
    expect(ready).toHaveLength(READY_STREAMS_MIN)
    expect(events.ended).not.toHaveBeenCalled()
  })

  it('is followed by nothing while no other one answers: the carrier ends with its last visitor', async () => {
    await settle()
    await claim()
    await settle()
    isRefused = true
    await machineLeaves()
    expect(events.ended).not.toHaveBeenCalled()
    leave()
    links[0]!.closed(1000)
    await settle()
    expect(events.ended).toHaveBeenCalledOnce()
  })
})
