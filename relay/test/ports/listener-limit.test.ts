// Tests that a real relay with few file descriptors keeps enough of them for visitors when leases ask for ports.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { portListenersMax } from '../../src/core/config/connection-capacity.ts'
import { newAccount } from '../support/relay.ts'
import { type RelayProcess, startRelayProcess } from '../support/relay-process.ts'

const test = wholeOnly(every, 'faults')

const OPEN_FILES = 700
/** Two listeners each: more than the process may have descriptors, with the connections that it lets in. */
const PORTS = 200
const BOTH = { tcp_enabled: true, udp_enabled: true }

describe('portListenersOf', () => {
  test('is all that the range has, where descriptors are many', () => {
    expect(portListenersMax(65_536, 2_000)).toBe(2_000)
    expect(portListenersMax(Number.POSITIVE_INFINITY, 130_000)).toBe(130_000)
  })

  test('is a quarter of what is left, where they are few', () => {
    expect(portListenersMax(1_024, 2_000)).toBe(128)
    expect(portListenersMax(1_024, 20)).toBe(20)
    expect(portListenersMax(512, 2_000)).toBe(0)
    expect(portListenersMax(300, 2_000)).toBe(0)
  })
})

describe('a relay with few descriptors', () => {
  let relay: RelayProcess
  const open: Socket[] = []
  beforeAll(async () => {
    const first = await freeRange(PORTS)
    const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + PORTS - 1}` }
    relay = await startRelayProcess(
      { UDP_ENABLED: 'true', TCP_ENABLED: 'true', ...range },
      { openFiles: OPEN_FILES },
    )
  })
  afterAll(async () => {
    for (const socket of open) socket.destroy()
    await relay.close()
  })

  test('gives ports as long as there are descriptors for them, and then serves as many as it promised', async () => {
    const promised = relay.log.find(({ msg }) => msg === 'listening') as {
      connections: number
      portConnections: number
      portListeners: number
    }
    expect(promised.portListeners + promised.connections + promised.portConnections).toBeLessThan(OPEN_FILES)
    const account = newAccount()
    const ports: number[] = []
    let refusal = ''
    while (refusal === '' && ports.length < PORTS)
      try {
        const { tcp_addr } = await relay.register(`site${ports.length}`, { account, ...BOTH })
        ports.push(Number(tcp_addr?.split(':').at(-1)))
      } catch (error) {
        refusal = String(error)
      }
    // one more, of either kind, that has no room
    expect(refusal).toMatch(/(tcp_port|udp)_capacity_exceeded/)
    expect(ports.length).toBe(Math.floor(promised.portListeners / 2))
    // a lease that replaces another of its identity takes its ports over
    await relay.register('site0', { account, ...BOTH })

    // Each port gets so many that a sixteenth of what is left is for the next one.
    const share = Math.floor(promised.portConnections / (ports.length + 16))
    for (let count = 0; count < share * ports.length; count += 1)
      open.push(await connected(ports[count % ports.length]!))
    expect(2 * share * ports.length).toBeGreaterThan(promised.portConnections)
    // One network would get half of them, and what is left is for networks that have none, such as 127.0.0.0/24.
    const connections = promised.connections - 10
    for (let count = 0; count < connections; count += 1)
      open.push(await connected(relay.port, `127.0.${1 + (count % 254)}.1`))
    expect((await relay.call('GET', '/api/healthz')).status).toBe(200)
    expect(await relay.descriptors()).toBeLessThan(OPEN_FILES)
    expect(cutOff).toBe(0)
    expect(relay.complaints).toBe('')
  })
})

/** Connections that ended at once: not those that said nothing for 10 s. */
let cutOff = 0

async function connected(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const since = performance.now()
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  socket.on('error', () => {})
  socket.once('close', () => {
    if (performance.now() - since < 5_000) cutOff += 1
  })
  await once(socket, 'connect')
  return socket
}
