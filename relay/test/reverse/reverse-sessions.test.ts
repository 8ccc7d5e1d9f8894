// Reverse session states over every carrier: idle, claimed by a TLS visitor or a raw one, closed with its lease.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { freeRange } from '../../../tools/network/free-port.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { socketReader } from '../support/api-socket.ts'
import { newAccount, startTestRelay } from '../support/relay.ts'
import { CARRIERS } from '../support/session.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const PORTS = 16

const relay = useStarted(async () => {
  const first = await freeRange(PORTS)
  const range = { MIN_PORT: `${first}`, MAX_PORT: `${first + PORTS - 1}` }
  return startTestRelay({ TCP_ENABLED: 'true', ADMIN_TOKEN, ...range })
})

const readyOf = async (name: string): Promise<number | undefined> => {
  const { data } = (await relay.call('GET', '/api/state')).json as unknown as {
    data: { leases: { name: string; ready: number }[] }
  }
  return data.leases.find((lease) => lease.name === name)?.ready
}

async function rawVisitor(address: string | undefined): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(address?.split(':')[1]), allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

describe.each(CARRIERS)('a session of %s', (carrier, open) => {
  const prefix = carrier.replaceAll(/[^a-z]/g, '').slice(-8)
  const nameOf = (name: string) => `${prefix}-${name}`
  const lease = (name: string, options = {}) => relay.register(nameOf(name), options)

  test('is ready until it is claimed or leaves', async () => {
    const { reverse_endpoint } = await lease('ready')
    const session = await open(relay, reverse_endpoint.capability)
    expect(await readyOf(nameOf('ready'))).toBe(1)
    session.abort()
    await expect.poll(() => readyOf(nameOf('ready'))).toBe(0)
  })

  test('gets 0x02, 16 bytes and the ClientHello of a TLS visitor, then carries both ways', async () => {
    const { reverse_endpoint, hostname } = await lease('tls')
    const session = await open(relay, reverse_endpoint.capability)
    const hello = await captureHello(hostname)
    const visitor = await relay.tcp()
    visitor.write(hello)
    const start = await session.read(1 + 16 + hello.length)
    expect(start[0]).toBe(2)
    expect(start.subarray(17)).toEqual(hello)
    await session.write(Buffer.from('from the session'))
    expect(await socketReader(visitor)(16)).toEqual(Buffer.from('from the session'))
    visitor.write('from the visitor')
    expect(await session.read(16)).toEqual(Buffer.from('from the visitor'))
  })

  test('gets 0x01 for a visitor of the TCP port, and either side may speak first', async () => {
    const { reverse_endpoint, tcp_addr } = await lease('raw', { tcp_enabled: true })
    const first = await open(relay, reverse_endpoint.capability)
    const quiet = await rawVisitor(tcp_addr)
    expect(await first.read(1)).toEqual(Buffer.of(1))
    await first.write(Buffer.from('220 ready'))
    expect(await socketReader(quiet)(9)).toEqual(Buffer.from('220 ready'))
    const eager = await rawVisitor(tcp_addr)
    eager.write('hello')
    const second = await open(relay, reverse_endpoint.capability)
    expect(await second.read(6)).toEqual(Buffer.from('\x01hello'))
  })

  test('ends each direction by itself', async () => {
    const { reverse_endpoint, tcp_addr } = await lease('half', { tcp_enabled: true })
    const session = await open(relay, reverse_endpoint.capability)
    const visitor = await rawVisitor(tcp_addr)
    const read = socketReader(visitor)
    visitor.end('request')
    expect(await session.read(100)).toEqual(Buffer.from('\x01request'))
    await session.write(Buffer.from('answer'))
    await session.end()
    expect(await read(100)).toEqual(Buffer.from('answer'))
    await session.closed
  })

  test('carries a megabyte each way unharmed', async () => {
    const { reverse_endpoint, tcp_addr } = await lease('bulk', { tcp_enabled: true })
    const session = await open(relay, reverse_endpoint.capability)
    const visitor = await rawVisitor(tcp_addr)
    const read = socketReader(visitor)
    const bulk = Buffer.alloc(1 << 20, 'bulk of some length ')
    visitor.write(bulk)
    const sent = session.read(1 + bulk.length)
    void session.write(bulk)
    expect((await read(bulk.length)).equals(bulk)).toBe(true)
    expect((await sent).subarray(1).equals(bulk)).toBe(true)
  })

  test('that speaks before its marker is dropped', async () => {
    const { reverse_endpoint } = await lease('early')
    const session = await open(relay, reverse_endpoint.capability)
    await session.write(Buffer.from('hello?'))
    await session.closed
    expect(await readyOf(nameOf('early'))).toBe(0)
  })

  test('is refused when 8 are ready', async () => {
    const { reverse_endpoint } = await lease('nine')
    const sessions = []
    for (let i = 0; i < 8; i++) sessions.push(await open(relay, reverse_endpoint.capability))
    await expect(open(relay, reverse_endpoint.capability)).rejects.toThrow(/429|rejected/)
    expect(await readyOf(nameOf('nine'))).toBe(8)
    for (const session of sessions) session.abort()
  })

  test('ends with its lease: replaced, then unregistered', async () => {
    const account = newAccount()
    const first = await lease('end', { account })
    const replaced = await open(relay, first.reverse_endpoint.capability)
    const second = await lease('end', { account })
    await replaced.closed
    await expect(open(relay, first.reverse_endpoint.capability)).rejects.toThrow()
    const unregistered = await open(relay, second.reverse_endpoint.capability)
    await relay.call('POST', '/sdk/unregister', { access_token: second.access_token })
    await unregistered.closed
  })

  test('ends when its identity is banned, idle or bridged, and comes back when it is not', async () => {
    const { reverse_endpoint, identity, tcp_addr } = await lease('ban', { tcp_enabled: true })
    const capability = reverse_endpoint.capability
    const bridged = await open(relay, capability)
    const visitor = await rawVisitor(tcp_addr)
    const left = once(visitor, 'close')
    visitor.resume()
    visitor.on('end', () => visitor.end())
    await bridged.read(1)
    const idle = await open(relay, capability)
    const ban = (is_banned: boolean) =>
      relay.call(
        'POST',
        '/api/policy/leases',
        { identity_key: `${identity.name}:${identity.address}`, is_banned },
        { Authorization: `Bearer ${ADMIN_TOKEN}` },
      )
    expect((await ban(true)).status).toBe(200)
    await Promise.all([bridged.closed, idle.closed, left])
    await expect(open(relay, capability)).rejects.toThrow()
    await ban(false)
    const again = await open(relay, capability)
    await expect
      .poll(() =>
        rawVisitor(tcp_addr).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    expect(await again.read(1)).toEqual(Buffer.of(1))
  })
})
