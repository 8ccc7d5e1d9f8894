// A host in a private zone below a public domain: the resolver of its network knows it, and the servers of the public zone do not.

import { expect, test } from 'vitest'
import { type Answering, a, ns, soa, startFakeServer } from '../../../dns/test/client/fake-server.ts'
import { isInPrivateZone } from '../../src/features/dns/private-zone.ts'

const RESOLVER = '127.0.0.10'
const PUBLIC = '127.0.0.1'
const HOST = 'relay.internal.example.test'

/** The resolver of the network, which is the server of `test`, too. */
const resolver =
  (knows: boolean): Answering =>
  (name, type) => {
    if (name === 'test' && type === 'NS') return { answers: [ns('test', 'a.test')] }
    if (name === 'a.test' && type === 'A') return { answers: [a('a.test', RESOLVER)] }
    if (name === 'example.test' && type === 'NS')
      return {
        isAuthoritative: false,
        authorities: [ns('example.test', 'ns1.example.test')],
        additionals: [a('ns1.example.test', PUBLIC)],
      }
    if (name === HOST && type === 'A' && knows) return { answers: [a(HOST, '10.0.0.1')] }
    return { authorities: [soa('test', 30)] }
  }
const unaware: Answering = () => ({ code: 3, authorities: [soa('example.test', 30)] })
const aware: Answering = (name, type) =>
  name === HOST && type === 'A' ? { answers: [a(HOST, '192.0.2.1')] } : unaware(name, type, 'udp')
const silent: Answering = () => undefined

test.each([
  ['the network knows it alone', true, unaware, true],
  ['the public servers know it, too', true, aware, false],
  ['nobody knows it yet', false, unaware, false],
  ['the public servers do not answer', true, silent, true],
])('%s', async (_what, knows, publicServer, expected) => {
  const { port } = await startFakeServer(RESOLVER, resolver(knows))
  await startFakeServer(PUBLIC, publicServer, port)
  expect(await isInPrivateZone(HOST, { resolvers: [`${RESOLVER}:${port}`], port })).toBe(expected)
})

test('a resolver that knows no public domain above it', async () => {
  const { port } = await startFakeServer(RESOLVER, (name, type) =>
    name === HOST && type === 'A' ? { answers: [a(HOST, '10.0.0.1')] } : { authorities: [soa('test', 30)] },
  )
  expect(await isInPrivateZone(HOST, { resolvers: [`${RESOLVER}:${port}`], port })).toBe(true)
})
