// BIND_ADDRESS at a real relay: every port that it opens is at that address alone, which is loopback for a relay on localhost.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, test as every, expect } from 'vitest'
import { freeRange } from '../../../tools/network/free-port.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { freePort, newAccount, startTestRelay, type TestRelay } from '../support/relay.ts'

const test = wholeOnly(every, 'variant')

/** Another address of every Linux machine: 127.0.0.0/8 is loopback. */
const OTHER = '127.0.0.2'

let relay: TestRelay | undefined
afterEach(async () => {
  await relay?.close()
  relay = undefined
})

/** A socket can have a port at an address while nothing else listens there, at this address or at every address. */
async function isFree(transport: 'tcp' | 'udp', port: number, address: string): Promise<boolean> {
  const server = transport === 'tcp' ? createServer() : createSocket('udp4')
  try {
    if ('listen' in server) server.listen(port, address)
    else server.bind({ port, address, exclusive: true })
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

interface Ports {
  sni: number
  redirects: number
  dedicated: number
}

/** A relay that opens every port it can, with a site that has dedicated ports. */
async function start(env: Record<string, string>): Promise<Ports> {
  const dedicated = await freeRange(1)
  const redirects = await freePort()
  relay = await startTestRelay({
    TCP_ENABLED: 'true',
    UDP_ENABLED: 'true',
    MIN_PORT: String(dedicated),
    MAX_PORT: String(dedicated),
    HTTP_REDIRECT_ADDR: String(redirects),
    ...env,
  })
  const identity = { name: 'ports', address: newAccount().address }
  await relay.register(identity.name, { tcp_enabled: true, udp_enabled: true })
  return { sni: relay.port, redirects, dedicated }
}

/** Says for each port whether the relay has it at an address. */
async function taken(
  { sni, redirects, dedicated }: Ports,
  address: string,
): Promise<Record<string, boolean>> {
  return {
    'the listener': !(await isFree('tcp', sni, address)),
    'datagram tunnels': !(await isFree('udp', sni, address)),
    redirects: !(await isFree('tcp', redirects, address)),
    'a TCP port': !(await isFree('tcp', dedicated, address)),
    'a UDP port': !(await isFree('udp', dedicated, address)),
  }
}

const ALL = {
  'the listener': true,
  'datagram tunnels': true,
  redirects: true,
  'a TCP port': true,
  'a UDP port': true,
}
const NONE = Object.fromEntries(Object.keys(ALL).map((port) => [port, false]))

describe.skipIf(process.platform !== 'linux')('the ports of a relay on localhost', () => {
  test.each([{}, { SVC_WORKERS: '2' }])('are at the loopback address alone, with %j', async (env) => {
    const ports = await start(env)
    expect(await taken(ports, '127.0.0.1')).toEqual(ALL)
    expect(await taken(ports, OTHER)).toEqual(NONE)
  })

  test('are at every address when BIND_ADDRESS says so', async () => {
    const ports = await start({ BIND_ADDRESS: '::' })
    expect(await taken(ports, OTHER)).toEqual(ALL)
  })
})

test('an address that this machine does not have ends the start with what to do', async () => {
  await expect(startTestRelay({ BIND_ADDRESS: '192.0.2.1' })).rejects.toMatchObject({
    code: 'EADDRNOTAVAIL',
    address: '192.0.2.1',
  })
})
