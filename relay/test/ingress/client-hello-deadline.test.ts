// A public connection has 10 s for its ClientHello and 2 s from the first byte of it, however it spends them.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { PROXY_TCP4, proxyHeader, tcp4 } from '../support/proxy-header.ts'
import { readAll, startTestRelay } from '../support/relay.ts'

const PROXY = '127.0.0.2'
const HEADER = proxyHeader(PROXY_TCP4, tcp4('192.0.2.7'))

let hello: Buffer
const relay = useStarted(() => startTestRelay({ TRUSTED_PROXIES: PROXY }))
beforeAll(async () => {
  hello = await captureHello('nobody.relay.localhost')
})

/** Less than the second by which another deadline would be later. */
const LATE_MAX_MS = 950

/** Sends each piece when the connection is so old, in milliseconds. @returns its age when the relay closed it */
async function lifeOf(localAddress: string, pieces: [number, Uint8Array][]): Promise<number> {
  const socket: Socket = connect({ host: '127.0.0.1', port: relay.port, localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const connectedAt = performance.now()
  const closed = readAll(socket).then((answer) => ({ answer, age: performance.now() - connectedAt }))
  for (const [age, piece] of pieces) {
    await sleep(connectedAt + age - performance.now())
    if (!socket.destroyed) socket.write(piece)
  }
  const { answer, age } = await closed
  expect(answer).toEqual(Buffer.alloc(0))
  return age
}

describe.concurrent('a ClientHello', () => {
  test.for<[string, number, string, () => [number, Uint8Array][]]>([
    ['that never begins', 10_000, '127.0.0.1', () => []],
    ['that begins after 9 s', 10_000, '127.0.0.1', () => [[9_000, hello.subarray(0, 50)]]],
    ['that stops half-way', 2_000, '127.0.0.1', () => [[0, hello.subarray(0, 50)]]],
    [
      'that comes byte by byte',
      2_000,
      '127.0.0.1',
      () => Array.from({ length: 10 }, (_, index) => [index * 190, hello.subarray(index, index + 1)]),
    ],
    ['that never begins behind a PROXY header', 10_000, PROXY, () => [[5_000, HEADER]]],
    [
      'that begins after 9 s behind a PROXY header',
      10_000,
      PROXY,
      () => [
        [4_000, HEADER],
        [9_000, hello.subarray(0, 50)],
      ],
    ],
    ['whose PROXY header begins after 9 s', 10_000, PROXY, () => [[9_000, HEADER.subarray(0, 5)]]],
  ])(
    '%s: the connection is closed after %i ms (protocol §9.1.1)',
    { retry: 2 },
    async ([, ms, address, pieces]) => {
      const life = await lifeOf(address, pieces())
      expect(life).toBeGreaterThan(ms - 100)
      expect(life).toBeLessThan(ms + LATE_MAX_MS)
    },
  )
})
