// Live sites that misbehave, and connections to them that are kept, die, or show the wrong certificate.

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { Agent } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { LIVE_BODY_MIN_BYTES, LIVE_DEADLINES } from '../../../src/features/static-cache/live-site/limits.ts'
import { AWAY, type HandMadeSite } from '../../support/live-sites.ts'
import { askSite, beginRequest } from '../../support/live-visitor.ts'
import { newAccount } from '../../support/relay.ts'
import { nodeHttp } from '../../support/tls-site.ts'
import { useLiveRelay } from '../../support/use-live-relay.ts'

/** Of sites that never answer. All others answer at once. */
const DEADLINE_MS = 3_000
/** The end of a connection has come to the relay by then. */
const LOOK_UP_MS = 200
const issued = new Set<string>()
const agents: Agent[] = []
/** The gate that the look at the certificates waits for. */
let lookUp = async (): Promise<unknown> => undefined

const live = useLiveRelay({
  deadlines: { ...LIVE_DEADLINES, responseMs: DEADLINE_MS, quietMs: DEADLINE_MS },
  hasIssued: async (_lease, leaf) => {
    await lookUp()
    return issued.has(leaf.toString('base64'))
  },
})
// Vitest calls it before that of the sites: those end when no connection is kept.
afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy()
})
const open = (listener: RequestListener): Promise<HandMadeSite> => live.open(nodeHttp(listener).serve)

function keptAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(agent)
  return agent
}

describe('connections', () => {
  test('one client has one connection for requests that follow each other, and another client has its own', async () => {
    const site = await open((request, response) => response.end(request.url))
    const agent = keptAgent()
    for (const path of ['/1', '/2', '/3'])
      expect((await askSite(live.relay, site, path, { agent })).text).toBe(path)
    expect(site.connections).toHaveLength(1)
    await askSite(live.relay, site, '/', { headers: { 'X-Test-Address': '192.0.2.7' } })
    expect(site.connections).toHaveLength(2)
  })

  /** The site closes the connection as soon as a second request comes on it. */
  const closesAtSecond = (): RequestListener => {
    const seen = new WeakSet<object>()
    return (request, response) => {
      if (seen.has(request.socket)) request.socket.destroy()
      else {
        seen.add(request.socket)
        response.end('fine')
      }
    }
  }

  test('a request that can be repeated is, once, when a kept connection turns out dead', async () => {
    const site = await open(closesAtSecond())
    expect((await askSite(live.relay, site, '/')).text).toBe('fine')
    expect((await askSite(live.relay, site, '/')).text).toBe('fine')
    expect(site.connections).toHaveLength(2)
  })

  test('one that changes something is not', async () => {
    const site = await open(closesAtSecond())
    expect((await askSite(live.relay, site, '/')).text).toBe('fine')
    expect((await askSite(live.relay, site, '/', { method: 'POST' }, 'pay')).status).toBe(502)
    expect(site.connections).toHaveLength(1)
  })

  test('the end of the lease closes those that wait', async () => {
    const site = await open((_request, response) => response.end())
    await askSite(live.relay, site, '/')
    const closed = once(site.connections[0]!, 'close')
    live.relay.parts.state.leases.end(site.lease, 'unregistered')
    await closed
  })
})

describe('a site that misbehaves', () => {
  test('never answers: 504', async () => {
    const site = await open(() => {})
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 504 })
    expect(await askSite(live.relay, site, '/', { method: 'POST' }, 'body')).toMatchObject({ status: 504 })
  })

  test('a visitor whose body stops gets 408', async () => {
    const site = await open((request) => void request.resume())
    const asked = beginRequest(live.relay, site, '/', { method: 'POST' })
    asked.on('error', () => {})
    asked.write('a')
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(408)
  })

  test('a visitor who sends single bytes of its body gets 408, too', async () => {
    const site = await open((request) => void request.resume())
    const asked = beginRequest(live.relay, site, '/', { method: 'POST' })
    asked.on('error', () => {})
    const drip = setInterval(() => asked.write('a'), DEADLINE_MS / 30)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    clearInterval(drip)
    expect(response.statusCode).toBe(408)
  })

  test('a body that keeps coming takes longer than the deadline', async () => {
    const site = await open((request, response) => {
      request.on('end', () => response.end('whole')).resume()
    })
    const asked = beginRequest(live.relay, site, '/', { method: 'POST' })
    const begun = performance.now()
    const flow = setInterval(() => {
      asked.write(Buffer.alloc(LIVE_BODY_MIN_BYTES))
      if (performance.now() - begun < 1.5 * DEADLINE_MS) return
      clearInterval(flow)
      asked.end()
    }, DEADLINE_MS / 30)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
  })

  test('stops in the midst of its response: it breaks off', async () => {
    const site = await open((_request, response) => void response.writeHead(200).write('begins'))
    await expect(askSite(live.relay, site, '/')).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  test('speaks no HTTP: 502', async () => {
    const site = await live.open((connection) => {
      connection.once('data', () => connection.end('220 ready\r\n'))
    })
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 502 })
  })

  test('has too long a head: 502', async () => {
    const site = await open((_request, response) => {
      response.writeHead(200, { 'X-Long': 'a'.repeat(40_000) })
      response.end()
    })
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 502 })
  })

  test('is gone before the handshake: it is away', async () => {
    const site = await open((_request, response) => response.end())
    await site.close()
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 503, text: AWAY })
  })
})

test('a site that comes back while a visitor waits is asked', async () => {
  const site = await open((_request, response) => response.end('back'))
  await site.close()
  const answer = askSite(live.relay, site, '/')
  await vi.waitUntil(() => live.relay.parts.visitors.visitorsOf(site.lease) === 1)
  await site.reopen()
  expect(await answer).toMatchObject({ status: 200, text: 'back' })
})

describe("the site's certificate", () => {
  const strangers = createCa('relay.localhost')
  let named = 0

  /** @param namesOf by the canonical hostname */
  async function openWith(
    namesOf: (hostname: string) => string[],
    isOfStrangers: boolean,
    serve = nodeHttp((_request, response) => response.end('contents')).serve,
  ): Promise<HandMadeSite> {
    named += 1
    const account = newAccount()
    const name = `named${named}`
    const hostname = `${name}-${account.address.slice(2).toLowerCase()}.relay.localhost`
    const authority = isOfStrangers ? strangers : live.relay.parts.state.certificates.current.authority!
    const leaf = createLeaf(authority, hostname, namesOf(hostname))
    const site = await live.open(serve, { name, certificate: leaf, account })
    expect(site.lease.canonicalHostname).toBe(hostname)
    if (isOfStrangers) certificates.set(site.lease.id, new X509Certificate(leaf.chain).raw.toString('base64'))
    return site
  }
  const certificates = new Map<string, string>()

  const problemsOf = ({ lease }: HandMadeSite): unknown[] =>
    live.relay.log
      .filter(({ hostname }) => hostname === lease.canonicalHostname)
      .map(({ problem }) => problem)

  test('from an authority that nobody trusts is refused, and the log says why', async () => {
    const site = await openWith((hostname) => [hostname], true)
    const { status, text } = await askSite(live.relay, site, '/')
    expect({ status, text }).toEqual({ status: 502, text: expect.stringContaining('certificate') })
    expect(problemsOf(site)).toEqual([expect.stringContaining('no authority')])
  })

  test('for another name is refused, also from the development CA', async () => {
    const site = await openWith(() => ['other.relay.localhost'], false)
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 502 })
    expect(problemsOf(site)).toEqual(['it does not name the canonical hostname'])
  })

  test('that the relay has issued for this lease is enough', async () => {
    const site = await openWith((hostname) => [hostname], true)
    issued.add(certificates.get(site.lease.id)!)
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 200, text: 'contents' })
    expect(problemsOf(site)).toEqual([])
  })

  test('a site that ends the connection while the relay looks for its certificate is away', async () => {
    const left = Promise.withResolvers<void>()
    const serve = (connection: TLSSocket): void => {
      connection.once('close', left.resolve)
      connection.destroy()
    }
    const site = await openWith((hostname) => [hostname], true, serve)
    issued.add(certificates.get(site.lease.id)!)
    lookUp = () => left.promise.then(() => pause(LOOK_UP_MS))
    expect(await askSite(live.relay, site, '/')).toMatchObject({ status: 503, text: AWAY })
    lookUp = async () => undefined
  })

  test('a WebSocket is refused like a request', async () => {
    const site = await openWith(() => ['other.relay.localhost'], false)
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
    expect(await askSite(live.relay, site, '/', { headers })).toMatchObject({ status: 502 })
  })
})
