// The way out through an HTTP proxy: which connections take it, and that everything which goes to a relay gets through.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, it as every, expect, onTestFinished } from 'vitest'
import { createCa, createLeaf } from '../../../relay/src/core/certificates/development-ca.ts'
import {
  type ConnectProxy,
  type ConnectProxyOptions,
  startConnectProxy,
} from '../../../tools/network/connect-proxy.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { CARRIERS } from '../../src/carrier/kinds.ts'
import { publish } from '../../src/index.ts'
import { proxyChoice } from '../../src/net/forward-proxy.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { freePort, startTestRelay, type TestRelay } from '../support/relay.ts'
import { type ProcessRun, reported, runSvc } from '../support/svc.ts'

const it = wholeOnly(every, 'variant')

describe('the proxy of a connection', () => {
  const PROXY = 'http://proxy.example:3128'
  const hostFor = (env: Record<string, string>, url: string, option?: string): string | undefined =>
    proxyChoice(option, env)(new URL(url))?.host

  it('is that of HTTPS_PROXY, of which the name in lower case comes first', () => {
    expect(hostFor({}, 'https://relay.example')).toBeUndefined()
    expect(hostFor({ HTTPS_PROXY: PROXY }, 'https://relay.example')).toBe('proxy.example:3128')
    const both = { HTTPS_PROXY: PROXY, https_proxy: 'other.example:8080' }
    expect(hostFor(both, 'https://relay.example')).toBe('other.example:8080')
    expect(hostFor({ HTTP_PROXY: PROXY }, 'https://relay.example')).toBeUndefined()
  })

  it('is that of the option, which NO_PROXY does not concern, and which may be none', () => {
    const env = { HTTPS_PROXY: PROXY, NO_PROXY: '*' }
    expect(hostFor(env, 'https://relay.example')).toBeUndefined()
    expect(hostFor(env, 'https://relay.example', 'http://mine.example')).toBe('mine.example')
    expect(hostFor({ HTTPS_PROXY: PROXY }, 'https://relay.example', '')).toBeUndefined()
  })

  it.each([
    ['relay.example', 'https://relay.example', true],
    ['relay.example', 'https://deep.RELAY.example', true],
    ['relay.example', 'https://otherrelay.example', false],
    ['.example, localhost', 'https://relay.example', true],
    ['*.example', 'https://relay.example', true],
    ['localhost', 'https://relay.localhost:4433', true],
    ['relay.example:4433', 'https://relay.example:4433', true],
    ['relay.example:4433', 'https://relay.example', false],
    ['192.0.2.1', 'https://192.0.2.1', true],
    ['192.0.2.0/24 10.0.0.0/8', 'https://10.1.2.3', true],
    ['192.0.2.0/24', 'https://198.51.100.1', false],
    ['192.0.2.0/24', 'https://192.0.2.1.example', false],
    ['::1', 'https://[::1]:4433', true],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]', true],
    ['2001:db8::/32', 'https://[2001:db8::1]', true],
    ['', 'https://relay.example', false],
  ])('is none with NO_PROXY=%s for %s: %s', (NO_PROXY, url, isSpared) => {
    expect(hostFor({ HTTPS_PROXY: PROXY, NO_PROXY }, url) === undefined).toBe(isSpared)
  })

  it.each(['socks5://proxy.example', 'proxy example', 'http://'])('cannot be %s', (option) => {
    expect(() => proxyChoice(option, {})).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })

  it('is not shown where it is wrong, for it may have a password', () => {
    expect(() => proxyChoice('socks5://me:secret@proxy.example', {})).toThrow(/^(?!.*secret)/)
  })
})

describe('a relay that nothing but a proxy leads to', () => {
  let relay: TestRelay
  /** The URL of the relay, at whose port nothing listens. */
  let origin: string
  beforeAll(async () => {
    origin = `https://relay.localhost:${await freePort()}`
    relay = await startTestRelay({ SVC_URL: origin })
  })
  afterAll(() => relay.close())

  let home: string
  const running: ProcessRun[] = []
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-proxy-'))
  })
  afterEach(async () => {
    for (const run of running.splice(0)) await run.stop()
  })
  afterAll(() => rm(home, { recursive: true, maxRetries: 5 }))

  const proxyWith = async (options?: ConnectProxyOptions): Promise<ConnectProxy> => {
    const proxy = await startConnectProxy(relay.port, options)
    onTestFinished(() => proxy.close())
    return proxy
  }

  const svc = (args: string[], env: Record<string, string> = {}): ProcessRun => {
    const run = runSvc(home, [...args, '--relay', origin, '--ca', relay.caFile, '--json'], {
      https_proxy: '',
      no_proxy: '',
      ...env,
    })
    running.push(run)
    return run
  }

  it.each(CARRIERS)('is reached by the carrier %s, control plane and reverse sessions', async (carrier) => {
    const proxy = await proxyWith()
    const site = await publish({
      relay: origin,
      ca: relay.ca,
      proxy: proxy.url,
      name: `n${randomBytes(6).toString('hex')}`,
      identity: Uint8Array.from(randomBytes(32)),
      fetch: async (request) => new Response(`you sent ${(await request.text()).length}`),
      carrier,
    })
    onTestFinished(() => site.close())
    const { host } = new URL(origin)
    expect(new Set(proxy.asked)).toEqual(new Set([host]))
    for (let i = 0; i < 4; i++) expect(await text(await visit(relay, site.url))).toBe('you sent 0')
  })

  it('is reached by svc with HTTPS_PROXY, also by its self-probe and by its other commands', async () => {
    const proxy = await proxyWith()
    const target = createServer((_, response) => void response.end('from the target'))
    onTestFinished(() => void target.close())
    const env = { https_proxy: proxy.url }
    const run = svc(['expose', String(await listening(target)), '--name', 'proxied'], env)
    const { url } = await reported(run, 'online')
    expect(await text(await visit(relay, url!))).toBe('from the target')
    const { verdict } = await reported(run, 'probe')
    expect(verdict).toBe('not_seen_from_here')
    expect(proxy.asked).toContain(new URL(url!).host)
    const relays = svc(['relays'], env)
    expect(await reported(relays, 'relay')).toMatchObject({ healthy: true })
    const doctor = svc(['doctor', '--name', 'proxied', '--proxy', proxy.url])
    expect(await reported(doctor, 'doctor')).not.toMatchObject({ verdict: 'unreachable' })
  })

  it('is reached through a proxy over TLS that wants a name and a password', async () => {
    const authority = createCa('localhost')
    const { chain: cert, key } = createLeaf(authority, 'localhost', ['localhost'])
    const proxy = await proxyWith({
      authorization: `Basic ${Buffer.from('me@home:p:w').toString('base64')}`,
      tls: { cert, key },
    })
    const ca = join(home, 'proxy.pem')
    await writeFile(ca, authority.certificate)
    const port = new URL(proxy.url).port
    const env = { NODE_EXTRA_CA_CERTS: ca }
    const run = svc(['expose', '1', '--proxy', `https://me%40home:p:w@localhost:${port}`], env)
    await reported(run, 'online')
    const refused = svc(['expose', '1', '--proxy', `https://localhost:${port}`], env)
    const { code, message } = await reported(refused, 'failed')
    expect([code, message]).toEqual([
      'relay_unreachable',
      expect.stringContaining('requires a user name and password'),
    ])
  })

  it('is not reached without one, and the error of a proxy that is not there names it', async () => {
    expect(await reported(svc(['expose', '1']), 'failed')).toMatchObject({ code: 'relay_unreachable' })
    const gone = `http://127.0.0.1:${await freePort()}`
    const { message } = await reported(svc(['expose', '1'], { https_proxy: gone }), 'failed')
    expect(message).toContain(`through the proxy ${new URL(gone).host}`)
  })
})
