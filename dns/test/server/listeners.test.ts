import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import { LISTENING_ADDRESSES_MAX } from '../../src/server/limits.ts'
import { Listeners } from '../../src/server/listeners.ts'
import { Responder } from '../../src/server/responder.ts'
import { dnsQuery, readAnswer } from '../support/dns-message.ts'
import { SmallZone } from '../support/small-zone.ts'

const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function listen(addresses: { host: string | undefined; port: number }[]) {
  const listeners = new Listeners({
    addresses,
    responder: new Responder({ zone: new SmallZone(), onZoneError: () => {} }),
    onBound: () => {},
    onUnbound: () => {},
  })
  cleanups.push(() => listeners.close())
  await listeners.bind()
  return listeners
}

test('without an address it listens at each of this machine, and answers from the one that was asked', async () => {
  const listeners = await listen([{ host: undefined, port: await freePort() }])
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const expected = all
    .flatMap(({ address, scopeid }) => (scopeid ? [] : [address]))
    .slice(0, LISTENING_ADDRESSES_MAX)
  expect(listeners.bound.map(({ host }) => host)).toEqual(expected)
  for (const { host, port } of listeners.bound) {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
    cleanups.push(() => socket.close())
    socket.send(dnsQuery(), port, host)
    const [answer, { address }] = await once(socket, 'message')
    expect(readAnswer(answer).answers).toMatchObject([{ data: '192.0.2.1' }])
    expect(address).toBe(host)
  }
})

// Other systems have one loopback address.
test.runIf(process.platform === 'linux')(
  'it listens at so many addresses, however many are named',
  async () => {
    const hosts = Array.from({ length: LISTENING_ADDRESSES_MAX + 10 }, (_, index) => `127.0.0.${index + 1}`)
    const listeners = await listen(hosts.map((host) => ({ host, port: 0 })))
    expect(listeners.bound).toHaveLength(LISTENING_ADDRESSES_MAX)
  },
)
