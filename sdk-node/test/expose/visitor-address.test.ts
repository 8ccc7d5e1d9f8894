// The visitor's address at the site: in the handler's `info.remote`, in fields to an HTTP target, and in a header of the PROXY
// protocol to a TCP service. The relay is real, and its visitors come from several addresses of the loopback network.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingHttpHeaders } from 'node:http'
import { connect, type Server, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { encodeProxyHeader, parseProxyHeader } from '@svc/protocol/proxy-protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { type Exposure, type NodeSite, publish, type RemoteAddress } from '../../src/index.ts'
import { exposeAt, listening, TCP_PORTS, TCP_SETTINGS, tcpServer, text, visit } from '../support/exposed.ts'
import { freeRange, startTestRelay } from '../support/relay.ts'

/** The address of a load balancer in front of the relay. */
const BALANCER = '127.0.0.99'
const VISITOR = '127.0.0.7'

const lines: string[] = []
const relay = useStarted(async () =>
  startTestRelay(
    { ...TCP_SETTINGS(await freeRange(TCP_PORTS)), TRUSTED_PROXIES: BALANCER, LOG_LEVEL: 'debug' },
    (line) => lines.push(line),
  ),
)

let exposure: Exposure | undefined
let site: NodeSite | undefined
const servers: (Server | HttpServer)[] = []
afterEach(async () => {
  await exposure?.close()
  await site?.close()
  exposure = undefined
  site = undefined
  for (const server of servers.splice(0)) server.close()
})

async function publishRemote(options: Partial<Parameters<typeof publish>[0]> = {}): Promise<NodeSite> {
  site = await publish({
    relay: relay.origin,
    ca: relay.ca,
    identity: Uint8Array.from(randomBytes(32)),
    fetch: (_request, info) => Response.json(info.remote ?? null),
    visitorAddress: true,
    ...options,
  })
  return site
}

async function remoteOf(
  url: string,
  options: Parameters<typeof visit>[3] = {},
): Promise<RemoteAddress | null> {
  return JSON.parse(await text(await visit(relay, url, '/', options)))
}

describeVariants(
  'info.remote by the carrier %s',
  ['native', 'native-sessions', 'websocket'] as const,
  (carrier) => {
    it.each(['own', 'shared'] as const)(
      'protocol §9.4.1: names the visitor, with the certificate %s',
      async (certificate) => {
        const { url } = await publishRemote({ carrier, certificate })
        for (const localAddress of ['127.0.0.2', '127.0.0.9'])
          expect(await remoteOf(url, { localAddress, localPort: 0 })).toEqual({
            address: localAddress,
            port: expect.any(Number),
            reportedBy: 'relay',
            traceId: expect.stringMatching(/^[\da-f]{32}$/),
          })
      },
    )
  },
)

describe('info.remote', () => {
  it('has the port of the visitor’s socket, and the name of the connection in the relay’s log', async () => {
    const { url } = await publishRemote()
    const { hostname } = new URL(url)
    const socket = connectTls({ host: '127.0.0.1', port: relay.port, servername: hostname, ca: relay.ca })
    await once(socket, 'secureConnect')
    const { localPort } = socket
    socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
    const answer = String(Buffer.concat(await socket.toArray()))
    const remote = JSON.parse(/\{.*\}/.exec(answer)![0]) as RemoteAddress
    expect(remote).toMatchObject({ address: '127.0.0.1', port: localPort })
    await expect.poll(() => lines.some((line) => line.includes(`${remote.traceId}`))).toBe(true)
  })

  it('is undefined unless the site asks', async () => {
    const { url } = await publishRemote({ visitorAddress: false })
    expect(await remoteOf(url)).toBeNull()
  })

  it('protocol §9.4.2: is the client that a trusted proxy names, and unknown when it names none', async () => {
    const { url } = await publishRemote()
    const client = { address: '203.0.113.7', port: 4711 }
    const named = encodeProxyHeader({ source: client, destination: { address: '192.0.2.1', port: 443 } })
    expect(await remoteThrough(BALANCER, named, url)).toMatchObject(client)
    const v6 = { address: '2001:db8::7', port: 1 }
    const ipv6 = encodeProxyHeader({ source: v6, destination: { address: '2001:db8::1', port: 443 } })
    expect(await remoteThrough(BALANCER, ipv6, url)).toMatchObject(v6)
    const local = encodeProxyHeader({ source: undefined, destination: undefined })
    expect(await remoteThrough(BALANCER, local, url)).toBeNull()
  })

  it('cannot be forged with a header of the PROXY protocol: the relay closes such a connection', async () => {
    const { url } = await publishRemote()
    const source = { address: '203.0.113.7', port: 4711 }
    const forged = encodeProxyHeader({ source, destination: source })
    await expect(remoteThrough('127.0.0.66', forged, url)).rejects.toThrow()
    expect(await remoteOf(url, { localAddress: '127.0.0.66' })).toMatchObject({ address: '127.0.0.66' })
  })
})

/** Visits behind a header of the PROXY protocol. */
async function remoteThrough(
  localAddress: string,
  header: Uint8Array,
  url: string,
): Promise<RemoteAddress | null> {
  const { hostname } = new URL(url)
  const socket = connect({ host: '127.0.0.1', port: relay.port, localAddress })
  await once(socket, 'connect')
  socket.write(header)
  const tls = connectTls({ socket, servername: hostname, ca: relay.ca })
  await once(tls, 'secureConnect')
  tls.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  const answer = String(Buffer.concat(await tls.toArray()))
  return JSON.parse(/\r\n\r\n(.*)$/s.exec(answer)![1]!)
}

describe('an HTTP target', () => {
  async function exposeFields(options: Partial<Parameters<typeof exposeAt>[1]> = {}): Promise<string> {
    const server = createServer((request, response) => response.end(JSON.stringify(request.headers)))
    new WebSocketServer({ server }).on('connection', (socket, request) => {
      socket.send(JSON.stringify(request.headers))
    })
    servers.push(server)
    exposure = await exposeAt(relay, { http: await listening(server), ...options })
    return exposure.sites[0]!.url
  }

  async function fieldsOf(url: string, headers: Record<string, string> = {}): Promise<IncomingHttpHeaders> {
    return JSON.parse(await text(await visit(relay, url, '/', { localAddress: VISITOR, headers })))
  }

  it.each([undefined, 'rewrite', 'app.test:8080'])('gets the address, with host %s', async (host) => {
    const url = await exposeFields({ host })
    expect(await fieldsOf(url)).toMatchObject({
      'x-forwarded-for': VISITOR,
      'x-real-ip': VISITOR,
      forwarded: expect.stringContaining(`for=${VISITOR}`),
    })
  })

  it('protocol §9.4.4: never gets what the visitor says about it, in any spelling', async () => {
    const url = await exposeFields()
    const forged = '203.0.113.66'
    const fields = await fieldsOf(url, {
      'X-Forwarded-For': forged,
      'x-forwarded-FOR': forged,
      X_Forwarded_For: forged,
      'X-Forwarded_For': forged,
      'X-Real-IP': forged,
      'X-Real_Ip': forged,
      Forwarded: `for=${forged}`,
      'X-Client-IP': forged,
      'True-Client-IP': forged,
      'CF-Connecting-IP': forged,
      'X-Original-Forwarded-For': forged,
    })
    expect(JSON.stringify(fields)).not.toContain(forged)
    expect(fields).toMatchObject({ 'x-forwarded-for': VISITOR, 'x-real-ip': VISITOR })
  })

  it('gets it with a WebSocket', async () => {
    const url = await exposeFields()
    const socket = new WebSocket(url.replace('https', 'wss'), {
      ca: relay.ca,
      localAddress: VISITOR,
      lookup: (_host, _options, done) => done(null, '127.0.0.1', 4),
      headers: { 'X-Forwarded-For': '203.0.113.66' },
    })
    const [message] = await once(socket, 'message')
    socket.close()
    expect(JSON.parse(String(message))).toMatchObject({ 'x-forwarded-for': VISITOR, 'x-real-ip': VISITOR })
  })

  it('gets none when the option is off', async () => {
    const url = await exposeFields({ visitorAddress: false })
    const fields = await fieldsOf(url, { 'X-Forwarded-For': '203.0.113.66' })
    expect(fields).not.toHaveProperty('x-forwarded-for')
    expect(fields.forwarded).not.toContain('for=')
  })

  it('is told of in the report of the request', async () => {
    const remotes: (string | undefined)[] = []
    const url = await exposeFields({ onRequest: ({ remote }) => remotes.push(remote?.address) })
    await fieldsOf(url)
    expect(remotes).toEqual([VISITOR])
  })
})

describe('a TCP service', () => {
  async function exposePort(proxyProtocol: 'v1' | 'v2'): Promise<{ port: number; got: Promise<Buffer> }> {
    const got = Promise.withResolvers<Buffer>()
    const server = tcpServer(async (socket) => {
      got.resolve(Buffer.concat(await socket.toArray()))
      socket.end()
    })
    servers.push(server)
    exposure = await exposeAt(relay, { tcp: await listening(server), proxyProtocol })
    return { port: Number(exposure.sites[0]!.tcpAddress!.split(':').at(-1)), got: got.promise }
  }

  async function sendTo(port: number, bytes: string | Uint8Array): Promise<Socket> {
    const visitor = connect({ port, host: '127.0.0.1', localAddress: VISITOR })
    await once(visitor, 'connect')
    visitor.end(bytes)
    visitor.resume()
    return visitor
  }

  it('gets a line of version 1', async () => {
    const { port, got } = await exposePort('v1')
    const { localPort } = await sendTo(port, 'hello')
    expect(String(await got)).toBe(`PROXY TCP4 ${VISITOR} 127.0.0.1 ${localPort} ${port}\r\nhello`)
  })

  it('gets a header of version 2, before what the visitor forges', async () => {
    const { port, got } = await exposePort('v2')
    const forged = encodeProxyHeader({
      source: { address: '203.0.113.66', port: 1 },
      destination: { address: '192.0.2.1', port: 2 },
    })
    const { localPort } = await sendTo(port, forged)
    const bytes = await got
    const header = bytes.subarray(0, bytes.length - forged.length)
    expect(parseProxyHeader(header)).toMatchObject({
      source: { address: VISITOR, port: localPort },
      destination: { address: '127.0.0.1', port },
    })
    expect(bytes.subarray(header.length)).toEqual(Buffer.from(forged))
  })
})

it.each([
  [{ http: 1, proxyProtocol: 'v1' }, 'proxyProtocol is for tcp and tls'],
  [{ tcp: 1, proxyProtocol: 'v3' }, 'proxyProtocol is v1 or v2'],
  [{ tcp: 1, proxyProtocol: 'v1', visitorAddress: false }, 'proxyProtocol needs visitorAddress'],
  [{ http: 1, visitorAddress: 'yes' }, 'visitorAddress'],
] as const)('%j is refused', async (options, message) => {
  await expect(exposeAt(relay, options as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  })
})
