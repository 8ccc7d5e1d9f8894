// Tests that the relay closes a misbehaving carrier with the right GoAway code, and no other carrier.

import { once } from 'node:events'
import type { RegisterResponse } from '@svc/protocol'
import { PATH, SUBPROTOCOL } from '@svc/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectWebSocket, openCarrier, type TestCarrier } from '../support/carrier.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

let relay: TestRelay
/** Of another lease: it must not notice anything. */
let bystander: Awaited<ReturnType<TestCarrier['open']>>
beforeAll(async () => {
  relay = await startTestRelay()
  const capability = capabilityOf(await relay.register('bystander'))
  bystander = await (await openCarrier(relay, capability)).open(capability)
  expect(await bystander.read(1)).toEqual(Buffer.of(0))
})
afterAll(() => relay.close())

const capabilityOf = (lease: RegisterResponse): string => lease.reverse_endpoint.capability

/** Frames of the specification: version, type, flags, stream id, length. */
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex')
const SYN_1 = '00 01 0001 00000001 00000000'
const GO_AWAY_PROTOCOL_ERROR = hex('00 03 0000 00000000 00000001')

/** Sends `messages` on a WebSocket of its own. @returns the last frame that came before the relay closed it */
async function attack(name: string, messages: Buffer[]): Promise<Buffer> {
  const socket = connectWebSocket(relay, [SUBPROTOCOL, capabilityOf(await relay.register(name))])
  await once(socket, 'open')
  const received: Buffer[] = []
  socket.on('message', (data) => received.push(data as Buffer))
  const closed = once(socket, 'close')
  for (const message of messages) socket.send(message)
  await closed
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
])('(%s) one that sends %s gets GoAway(1)', async (name, _what, messages) => {
  expect(await attack(`attacker-${name}`, messages)).toEqual(GO_AWAY_PROTOCOL_ERROR)
  expect(bystander.stream.error).toBeUndefined()
})

test('one that opens 80,000 streams in a message has most of them refused, and the relay answers on', async () => {
  const lease = await relay.register('flood')
  const socket = connectWebSocket(relay, [SUBPROTOCOL, capabilityOf(lease)])
  await once(socket, 'open')
  const flood = Buffer.alloc(80_000 * 12)
  for (let frame = 0; frame < 80_000; frame++) {
    flood.set([0, 1, 0, 1], frame * 12)
    flood.writeUInt32BE(frame * 2 + 1, frame * 12 + 4)
  }
  socket.send(flood)
  expect((await relay.call('GET', PATH.health)).status).toBe(200)
  expect(bystander.stream.error).toBeUndefined()
  socket.terminate()
})

test('a second WebSocket makes the relay look after the first: a dead one is closed, a live one is not', async () => {
  const lease = await relay.register('probed')
  const live = await openCarrier(relay, capabilityOf(lease))
  const dead = connectWebSocket(relay, [SUBPROTOCOL, capabilityOf(lease)])
  await once(dead, 'open')
  // it answers no ping: nothing here speaks yamux
  const closed = once(dead, 'close')
  const from = Date.now()
  await openCarrier(relay, capabilityOf(lease))
  expect((await closed)[0]).toBe(1006)
  expect(Date.now() - from).toBeGreaterThan(4_500)
  expect(Date.now() - from).toBeLessThan(12_000)
  expect(live.socket.readyState).toBe(live.socket.OPEN)
})
