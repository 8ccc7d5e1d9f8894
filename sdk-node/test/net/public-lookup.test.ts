// A gateway may have public addresses alone, which are looked at when the connection is opened, however its name resolves then.

import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { nativeCarrier } from '../../src/carrier/native-carrier.ts'
import { publicLookup, requirePublicHost } from '../../src/net/public-lookup.ts'

const answers: string[][] = []
vi.mock('node:dns', async (original) => ({
  ...(await original<object>()),
  lookup: (_host: string, _options: object, callback: (error: null, found: object[]) => void) => {
    const found = (answers.shift() ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    process.nextTick(() => callback(null, found))
  },
}))
afterEach(() => void answers.splice(0))

function resolve(host: string, options = {}): Promise<unknown> {
  return new Promise((done, fail) =>
    publicLookup(host, options, (error, ...found) => (error ? fail(error) : done(found))),
  )
}

const refused = expect.objectContaining({
  code: 'relay_unreachable',
  message: expect.stringContaining('public'),
})

describe('the name of a gateway', () => {
  it('resolves to its public addresses alone', async () => {
    answers.push(['10.0.0.1', '93.184.215.14', '::1', '2606:2800:21f::1'], ['93.184.215.14'])
    expect(await resolve('gw.example', { all: true })).toEqual([
      [
        { address: '93.184.215.14', family: 4 },
        { address: '2606:2800:21f::1', family: 6 },
      ],
    ])
    expect(await resolve('gw.example')).toEqual(['93.184.215.14', 4])
  })

  it.each([
    ['loopback', '127.0.0.1'],
    ['private', '192.168.1.1'],
    ['link-local', '169.254.169.254'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['unique local', 'fd00::1'],
  ])('at a %s address is refused (protocol §17.3.2)', async (_, address) => {
    answers.push([address])
    await expect(resolve('gw.example')).rejects.toEqual(refused)
  })

  it('below localhost is refused', async () => {
    await expect(resolve('gw.localhost')).rejects.toEqual(refused)
  })

  it('that leads elsewhere at the next connection is refused then (protocol §17.3.2)', async () => {
    answers.push(['93.184.215.14'], ['127.0.0.1'])
    await resolve('gw.example')
    const socket = connect({ host: 'gw.example', port: 9, lookup: publicLookup as never })
    const error = await new Promise((done) => socket.once('error', done))
    expect(error).toEqual(refused)
  })
})

describe('an address in the URL of a gateway', () => {
  it.each(['127.0.0.1', '10.1.2.3', '[::1]', '[fd00::1]', '[::ffff:7f00:1]'])('%s is refused', (host) => {
    expect(() => requirePublicHost(new URL(`https://${host}/`))).toThrow(refused)
  })

  it.each(['93.184.215.14', '[2606:2800:21f::1]', 'gw.example'])('%s is looked at no more', (host) => {
    requirePublicHost(new URL(`https://${host}/`))
  })
})

it('the native carrier dials no gateway of this machine', async () => {
  const open = nativeCarrier(() => ({}), true)
  const events = { capability: () => 'c', hasRoomFor: () => true } as never
  const relay = (host: string) => ({
    url: `wss://${host}/sdk/connect`,
    isGateway: true,
    extensions: new Set<never>(),
    hostname: '',
    canonicalHostname: 'demo.relay.localhost',
  })
  const { signal } = new AbortController()
  const traffic = { bytesIn: 0, bytesOut: 0 }
  await expect(open(relay('127.0.0.1:9'), traffic, events, signal)).rejects.toEqual(refused)
  await expect(open(relay('gw.localhost:9'), traffic, events, signal)).rejects.toMatchObject({
    code: 'relay_unreachable',
  })
})
