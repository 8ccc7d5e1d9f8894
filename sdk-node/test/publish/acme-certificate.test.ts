// Sites of Node at relays whose certificates come from pebble, a real ACME server: with a wildcard certificate they are online
// at once and lose no visitor when their own comes; without one they wait for it.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import dns from 'node:dns'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { identityFromKey } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, describe, it as every, expect, vi } from 'vitest'
import {
  ACME_HOST,
  type AcmeRelay,
  type AcmeRelayOptions,
  hasAcmeRelay,
  startAcmeRelay,
} from '../../../tools/relay/acme-relay.ts'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { type NodePublishOptions, publish, type Site } from '../../src/index.ts'

const it = wholeOnly(every, 'variant')

const run = promisify(execFile)
const ADMIN_TOKEN = 'a-long-random-value'
const TIMEOUT_MS = 240_000
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS })

describe.skipIf(!hasAcmeRelay())('a site of Node', () => {
  let folder: string
  const sites: Site[] = []
  const relays: AcmeRelay[] = []
  const { lookup } = dns

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-acme-site-'))
    // What DNS does on the Internet.
    const toLoopback = (host: string, ...rest: [never, never]): void =>
      lookup(host.endsWith(ACME_HOST) ? '127.0.0.1' : host, ...rest)
    Object.assign(dns, { lookup: toLoopback })
    syncBuiltinESMExports()
  })
  afterEach(async () => {
    await Promise.all(sites.splice(0).map((site) => site.close()))
    await Promise.all(relays.splice(0).map((relay) => relay.close()))
  })
  afterAll(async () => {
    Object.assign(dns, { lookup })
    syncBuiltinESMExports()
    await rm(folder, { recursive: true })
  })

  const startRelay = async (options: AcmeRelayOptions): Promise<AcmeRelay> => {
    const relay = await startAcmeRelay(options)
    relays.push(relay)
    return relay
  }

  /** Publishes; `states` gets each state with the reason to wait, and `errors` the codes of errors. */
  const publishAt = async (relay: AcmeRelay, options: Partial<NodePublishOptions> & { name: string }) => {
    const [states, errors]: string[][] = [[], []]
    const own = Promise.withResolvers<void>()
    const site = await publish({
      relay: relay.url,
      ca: relay.ca,
      carrier: 'native',
      identityPath: join(folder, `${options.name}.json`),
      fetch: () => new Response('hello'),
      debug: ({ type }) => type === 'certificate' && own.resolve(),
      onSite: (made) => {
        made.addEventListener('statechange', () => states!.push(made.waiting?.reason ?? made.state))
        made.addEventListener('error', ({ error }) => errors!.push(error.code))
      },
      ...options,
    })
    sites.push(site)
    return { site, states, errors, own: own.promise }
  }

  const approve = async (relay: AcmeRelay, identityKey: string): Promise<void> => {
    const asked = request({
      host: '127.0.0.1',
      servername: relay.host,
      port: relay.port,
      ca: relay.ca,
      path: '/api/policy/leases',
      method: 'POST',
      headers: {
        Host: `${relay.host}:${relay.port}`,
        Authorization: `Bearer ${ADMIN_TOKEN}`,
        'Content-Type': 'application/json',
      },
      agent: false,
    })
    asked.end(JSON.stringify({ identity_key: identityKey, is_approved: true }))
    const [response] = await once(asked, 'response')
    expect([response.statusCode, String(Buffer.concat(await response.toArray()))]).toMatchObject([
      200,
      expect.any(String),
    ])
  }

  const visit = async (relay: AcmeRelay, servername: string): Promise<TLSSocket> => {
    const socket = connect({
      host: '127.0.0.1',
      port: relay.port,
      servername,
      ca: relay.ca,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    return socket
  }
  const curl = async (relay: AcmeRelay, url: string): Promise<string> => {
    const resolve = ['--resolve', `${new URL(url).hostname}:${relay.port}:127.0.0.1`]
    const args = ['--silent', '--show-error', '--fail', '--cacert', relay.caFile, ...resolve]
    return (await run('curl', [...args, '--write-out', ' %{http_version}', url], { timeout: 60_000 })).stdout
  }

  it('gets HTTP/2 with its own certificate in place of the wildcard, and no visitor is lost', async () => {
    const relay = await startRelay({ challenge: 'dns-01', holdsSites: true, env: { ADMIN_TOKEN } })
    const identity = Uint8Array.from(randomBytes(32))
    await approve(relay, `wild:${identityFromKey(identity).address.toLowerCase()}`)
    const plain = await publishAt(relay, { name: 'plain' })
    const { site, states, errors, own } = await publishAt(relay, { name: 'wild', identity })
    expect(states).toEqual(['online'])
    expect(await curl(relay, site.url)).toBe('hello 1.1')
    const first = await visit(relay, new URL(site.url).hostname)
    expect(first.getPeerX509Certificate()!.subjectAltName).toContain(`*.${ACME_HOST}`)
    let isOver = false
    let visits = 0
    const visiting = (async () => {
      for (; !isOver; visits++) expect(await curl(relay, site.url)).toMatch(/^hello (1\.1|2)$/)
    })()
    await relay.releaseSites()
    await own
    expect(await curl(relay, site.url)).toBe('hello 2')
    isOver = true
    await visiting
    expect(visits).toBeGreaterThan(0)
    const after = await visit(relay, new URL(site.url).hostname)
    expect(after.getPeerX509Certificate()!.subjectAltName).toBe(
      [site.url, site.canonicalUrl].map((url) => `DNS:${new URL(url).hostname}`).join(', '),
    )
    expect([errors, site.state]).toEqual([[], 'online'])
    // A connection with the relay's certificate goes on.
    first.write(`GET / HTTP/1.1\r\nHost: ${new URL(site.url).host}\r\nConnection: close\r\n\r\n`)
    expect(String(Buffer.concat(await first.toArray()))).toMatch(/^HTTP\/1\.1 200 .*hello$/s)
    after.destroy()
    // A site that nobody approved keeps the relay's certificate, and that is no error.
    expect(await curl(relay, plain.site.url)).toBe('hello 1.1')
    expect([plain.errors, plain.site.state]).toEqual([[], 'online'])
  })

  it('waits for its own certificate where there is no wildcard, and says so', async () => {
    const relay = await startRelay({ challenge: 'tls-alpn-01' })
    const { site, states, errors } = await publishAt(relay, { name: 'own' })
    expect(states).toEqual(['certificate', 'online'])
    expect(errors).toEqual([])
    expect(await curl(relay, site.url)).toBe('hello 2')
    expect(await curl(relay, site.canonicalUrl)).toBe('hello 2')
    await expect(publishAt(relay, { name: 'hidden', certificate: 'shared' })).rejects.toMatchObject({
      code: 'certificate_unavailable',
      message: expect.stringMatching(/certificate: own/),
    })
  })
})
