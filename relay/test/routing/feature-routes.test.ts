// A hostname may lead to a feature of the relay instead of a lease: it gets the visitor's connection from the first byte on.

import { once } from 'node:events'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { createPipe } from '../../src/core/bridge/pipe.ts'
import { Visitors } from '../../src/core/bridge/visitors.ts'
import { ClientAddresses } from '../../src/core/client-address/client-addresses.ts'
import { TrustedProxies } from '../../src/core/client-address/trusted-proxies.ts'
import { DataPlane } from '../../src/core/data-plane.ts'
import { type FeatureRoute, ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { createLog } from '../../src/core/log/log.ts'
import { RelayCounters } from '../../src/core/metrics/relay-counters.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { newLease } from '../support/lease.ts'
import { readAll } from '../support/relay.ts'

const policy = { onChange: () => {}, routes: () => true, bytesPerSecond: () => 0, file: {} } as never
const lease = newLease()
const HOST = lease.canonicalHostname

let routes: RoutingTable<Route>
let dataPlane: DataPlane
let listener: Server
beforeEach(async () => {
  routes = new RoutingTable<Route>('relay.localhost', ROOT_ROUTE)
  const log = createLog('silent')
  dataPlane = new DataPlane({
    processes: () => 1,
    bindingMark: undefined,
    clientAddresses: new ClientAddresses(new TrustedProxies('')),
    routes,
    policy,
    visitors: new Visitors(log),
    counters: new RelayCounters(),
    pipe: createPipe(undefined),
    isReady: () => true,
    log,
  })
  listener = dataPlane.createListener({ connectionsMax: 10, serveRoot: (socket) => socket.end('root') })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  listener.close()
  dataPlane.close()
})

async function visit(serverName: string): Promise<{ hello: Buffer; answer: Buffer }> {
  const hello = await captureHello(serverName)
  const socket: Socket = connect((listener.address() as AddressInfo).port, '127.0.0.1')
  const answer = readAll(socket)
  socket.write(hello)
  return { hello, answer: await answer }
}

/** Sends back what it gets at first. */
const echo = (isOpen = true): FeatureRoute => ({
  to: 'feature',
  isOpen: () => isOpen,
  serve: async (socket, serverName) => {
    const [bytes] = (await once(socket.resume(), 'data')) as [Buffer]
    socket.end(Buffer.concat([Buffer.from(serverName), bytes]))
  },
})

test("a feature serves the visitors of a lease's hostname, also when the lease has ended", async () => {
  routes.publish(HOST, lease.route)
  routes.cover(HOST, echo())
  const live = await visit(HOST)
  expect(live.answer).toEqual(Buffer.concat([Buffer.from(HOST), live.hello]))
  routes.withdraw(HOST, lease.route)
  const outlived = await visit(HOST)
  expect(outlived.answer).toEqual(Buffer.concat([Buffer.from(HOST), outlived.hello]))
})

test('a hostname without a lease may lead to a feature, as a hop to another relay', async () => {
  routes.publish('elsewhere.relay.localhost', echo())
  expect((await visit('elsewhere.relay.localhost')).answer.toString('latin1')).toMatch(/^elsewhere\./)
  expect((await visit('relay.localhost')).answer.toString()).toBe('root')
})

test('a feature that is shut refuses its visitors as an unknown host does (RFC 6066 §3)', async () => {
  routes.cover(HOST, echo(false))
  expect((await visit(HOST)).answer).toEqual(Buffer.of(21, 3, 3, 0, 2, 2, 112))
})
