// Tests that the relay closes a misbehaving carrier with the right GoAway code, and no other carrier.

import { once } from 'node:events'
import { PATH, type RegisterResponse } from '@svc/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { carrierOn, LINKS, openCarrier, type TestCarrier } from '../support/carrier.ts'
import { startTestRelay } from '../support/relay.ts'

/** Streams that a client opens without showing a capability: more than the relay lets wait. */
const FLOOD = 80_000
/** Bytes that a client makes the relay answer with and does not read, in answers to pings of 12 bytes. */
const UNREAD_PINGS = 200_000

/** Of another lease: it must not notice anything. */
let bystander: Awaited<ReturnType<TestCarrier['open']>>
const relay = useStarted(startTestRelay)
beforeAll(async () => {
  const capability = capabilityOf(await relay.register('bystander'))
  bystander = await (await openCarrier(relay, capability)).open(capability)
  expect(await bystander.read(1)).toEqual(Buffer.of(0))
})

const capabilityOf = (lease: RegisterResponse): string => lease.reverse_endpoint.capability

/** Frames of the specification: version, type, flags, stream id, length. */
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex')
const SYN_1 = '00 01 0001 00000001 00000000'
const GO_AWAY_PROTOCOL_ERROR = hex('00 03 0000 00000000 00000001')

describe.each(LINKS)('of %s', (kind, connect) => {
  const prefix = kind.slice(-5)

  /** Sends `messages` on a carrier of its own. @returns the last frame that came before the relay closed it */
  async function attack(name: string, messages: Buffer[]): Promise<Buffer> {
    const link = await connect(relay, capabilityOf(await relay.register(`${prefix}-${name}`)))
    const received: Buffer[] = []
    link.receive((bytes) => received.push(bytes))
    for (const message of messages) void link.send(message)
    await link.closed
    return Buffer.concat(received).subarray(-12)
  }

  test.each([
    ['version', 'another version', [hex('01 00 0000 00000001 00000000')]],
    ['type', 'an unknown type', [hex('00 09 0000 00000001 00000000')]],
    ['zero', 'data for the session itself', [hex('00 00 0001 00000000 00000000')]],
    ['parity', 'a stream id that is the relay’s to give', [hex('00 01 0001 00000002 00000000')]],
    ['twice', 'a stream that is open already', [hex(SYN_1), hex(SYN_1)]],
    ['huge', 'a frame of 4 GiB', [hex(SYN_1), hex('00 00 0000 00000001 ffffffff')]],
    ['window', 'more than the window', [hex(SYN_1), hex('00 00 0000 00000001 00040001')]],
    ['credit', 'credit beyond 32 bits', [hex(`${SYN_1} 00 01 0000 00000001 ffffffff`)]],
  ])('(%s) one that sends %s gets GoAway(1) (protocol §8.1.3)', async (name, _what, messages) => {
    expect(await attack(`attack-${name}`, messages)).toEqual(GO_AWAY_PROTOCOL_ERROR)
    expect(bystander.stream.error).toBeUndefined()
  })

  test('one that opens 80,000 streams in a message has most of them refused, and the relay answers on (protocol §7.4.4)', async () => {
    const link = await connect(relay, capabilityOf(await relay.register(`${prefix}-flood`)))
    const flood = Buffer.alloc(FLOOD * 12)
    for (let frame = 0; frame < FLOOD; frame++) {
      flood.set([0, 1, 0, 1], frame * 12)
      flood.writeUInt32BE(frame * 2 + 1, frame * 12 + 4)
    }
    void link.send(flood)
    expect((await relay.call('GET', PATH.health)).status).toBe(200)
    expect(bystander.stream.error).toBeUndefined()
    link.terminate()
  })

  test('one that pings on and reads no answer delays nobody else', async () => {
    const link = await connect(relay, capabilityOf(await relay.register(`${prefix}-pings`)))
    link.pause()
    const pings = Buffer.alloc(1000 * 12)
    for (let ping = 0; ping < 1000; ping++) pings.set([0, 2, 0, 1], ping * 12)
    for (let sent = 0; sent < UNREAD_PINGS && link.isOpen; sent += 1000) void link.send(pings)
    expect((await relay.call('GET', PATH.health)).status).toBe(200)
    expect(bystander.stream.error).toBeUndefined()
    link.terminate()
  })

  test('a second carrier makes the relay look after the first: a dead one is closed, a live one is not (protocol §7.6.6)', async () => {
    const lease = await relay.register(`${prefix}-probed`)
    const live = await connect(relay, capabilityOf(lease))
    carrierOn(live)
    // it answers no ping: nothing here speaks yamux
    const dead = await connect(relay, capabilityOf(lease))
    // Nobody serves this visitor of another site: it is turned away after ten seconds, and the other carrier is closed before.
    const { hostname } = await relay.register(`${prefix}-patient`)
    const patient = relay.tls(hostname).on('error', () => {})
    const turnedAway = once(patient, 'close').then(() => 'after ten seconds')
    const from = performance.now()
    carrierOn(await connect(relay, capabilityOf(lease)))
    expect([undefined, 1006]).toContain(await Promise.race([dead.closed, turnedAway]))
    expect(performance.now() - from).toBeGreaterThan(4_500)
    expect(live.isOpen).toBe(true)
  })
})
