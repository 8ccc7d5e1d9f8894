// Pairs of sockets over the loopback interface: both ends are of one connection, also while other programs connect, and what
// fails breaks one pair alone.

import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import net, { type NetConnectOpts, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { freePort } from '../../../tools/network/free-port.ts'
import {
  LOOPBACK_STRANGERS_MAX,
  LoopbackPairs,
  type SocketPair,
} from '../../src/core/bridge/loopback-pairs.ts'
import { closeOf } from '../support/live-visitor.ts'

/** Turns of the event loop in which a pair goes through all of its states. */
const TURNS = 6
const AT_ONCE = 16
/** Another address of the loopback interface. */
const OTHER_HOST = '127.0.0.2'

const { connect } = net
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

function end({ near, far }: SocketPair): void {
  near.destroy()
  far.destroy()
}

test('gives the two ends of one connection', async () => {
  const pairs = new LoopbackPairs()
  const opened = await Promise.all(Array.from({ length: 16 }, () => pairs.open()))
  for (const [n, { near }] of opened.entries()) near.write(`${n}`)
  for (const [n, { far }] of opened.entries()) expect(String((await once(far, 'data'))[0])).toBe(`${n}`)
  for (const { near, far } of opened) for (const end of [near, far]) end.destroy()
  await pairs.close()
})

test('refuses other programs, also those that connect while it opens pairs', async () => {
  const pairs = new LoopbackPairs()
  const first = await pairs.open()
  const { remotePort: port } = first.near
  const strangers: Socket[] = []
  const refused: Promise<unknown>[] = []
  const intrude = (): void => {
    const stranger = connect(port!, '127.0.0.1')
    stranger.on('error', () => {})
    stranger.on('connect', () => stranger.write('let me in'))
    strangers.push(stranger)
    refused.push(closeOf(stranger))
  }
  const pending: ReturnType<LoopbackPairs['open']>[] = []
  for (let n = 0; n < 2 * LOOPBACK_STRANGERS_MAX; n++) {
    intrude()
    if (n % 8 === 0) pending.push(pairs.open())
  }
  const opened = [first, ...(await Promise.all(pending))]
  await Promise.all(refused)
  for (const { near, far } of opened) {
    expect(far.remotePort).toBe(near.localPort)
    near.end('ours')
    expect(String((await once(far, 'data'))[0])).toBe('ours')
    far.destroy()
  }
  for (const stranger of strangers) expect(stranger.bytesRead).toBe(0)
  await pairs.close()
})

test('opens none once it is closed', async () => {
  const pairs = new LoopbackPairs()
  await pairs.close()
  await expect(pairs.open()).rejects.toThrow('closing')
})

test('the end of the listener ends those that are being opened, and nothing else', async () => {
  for (let turns = 0; turns < TURNS; turns += 1) {
    const pairs = new LoopbackPairs()
    end(await pairs.open())
    const opened = Array.from({ length: AT_ONCE }, () => pairs.open().then(end, () => {}))
    for (let turn = 0; turn < turns; turn += 1)
      await new Promise(turn % 2 === 0 ? process.nextTick : setImmediate)
    await pairs.close()
    await Promise.all(opened)
  }
})

test('a listener that cannot be had is tried again', async () => {
  const pairs = new LoopbackPairs()
  vi.spyOn(net.Server.prototype, 'listen').mockImplementationOnce(() => {
    throw new Error('no descriptor')
  })
  await expect(pairs.open()).rejects.toThrow('no descriptor')
  end(await pairs.open())
  await pairs.close()
})

test.runIf(process.platform === 'linux')(
  'a connection from the very port, and from another loopback address, is not taken for the far end',
  async () => {
    const pairs = new LoopbackPairs()
    end(await pairs.open())
    const localPort = await freePort()
    let stranger: Socket | undefined
    let refused: Promise<void> | undefined
    vi.spyOn(net, 'connect').mockImplementation(((to: NetConnectOpts) => {
      // Both are accepted in this order.
      stranger = connect({ ...to, localAddress: OTHER_HOST, localPort } as NetConnectOpts)
      stranger.on('error', () => {}).on('connect', () => stranger?.write('theirs'))
      refused = closeOf(stranger)
      return connect({ ...to, localPort } as NetConnectOpts)
    }) as typeof connect)
    syncBuiltinESMExports()
    const pair = await pairs.open()
    expect(stranger).toMatchObject({ localAddress: OTHER_HOST, localPort })
    expect(pair.near.localPort).toBe(localPort)
    expect(pair.far.remoteAddress).toBe(pair.near.localAddress)
    pair.near.write('ours')
    expect(String((await once(pair.far, 'data'))[0])).toBe('ours')
    end(pair)
    await refused
    await pairs.close()
  },
)
