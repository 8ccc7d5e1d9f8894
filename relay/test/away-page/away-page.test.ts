// The away page at a real relay: which names have it, when, and what it takes of a request.

import { once } from 'node:events'
import type { RegisterResponse } from '@svc/protocol'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AWAY_CONNECTIONS_PER_NETWORK_MAX } from '../../src/features/away-page/limits.ts'
import { certificateRequest } from '../support/certificate-request.ts'
import { newAccount, ROOT_HOST, readAll, startTestRelay, type TestRelay } from '../support/relay.ts'
import { nativeSession } from '../support/session.ts'

const ADMIN_TOKEN = 'a-token-of-the-administrator'
const BEARER = { Authorization: `Bearer ${ADMIN_TOKEN}` }
const AWAY = /^HTTP\/1\.1 503 Service Unavailable\r\n/
/** The error of a client that got the alert `unrecognized_name`. */
const NOBODY = 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME'

/** The marker with which a site gets a visitor's TLS. */
const TLS_ACTIVATION = 2

let relay: TestRelay
beforeEach(async () => {
  relay = await startTestRelay({ ADMIN_TOKEN, NAME_GRACE: '1h' })
})
afterEach(() => relay.close())

async function leave({ access_token }: RegisterResponse): Promise<void> {
  expect(await relay.call('POST', '/sdk/unregister', { access_token })).toMatchObject({ status: 200 })
}

/** @returns what the hostname answers, or the code of the error of the connection */
async function visit(name: string, request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'): Promise<string> {
  const socket = relay.tls(`${name}.${ROOT_HOST}`, { ALPNProtocols: ['h2', 'http/1.1'] })
  socket.once('secureConnect', () => socket.write(request))
  return await readAll(socket).then(String, ({ code }) => `${code}`)
}

/** Expects that a visitor of the hostname is led to the site. */
async function expectSite(name: string, lease: RegisterResponse): Promise<void> {
  const session = await nativeSession(relay, lease.reverse_endpoint.capability, [])
  const visitor = relay.tls(`${name}.${ROOT_HOST}`)
  const [marker] = await session.read(1)
  expect(marker).toBe(TLS_ACTIVATION)
  visitor.destroy()
  session.abort()
}

async function administer(path: string, body: object): Promise<void> {
  expect(await relay.call('POST', path, body, BEARER)).toMatchObject({ status: 200 })
}

describe('a site that asked for it (protocol §9.1.6)', () => {
  test('has a page without scripts at its friendly hostname while it has no lease, and never before or after', async () => {
    const account = newAccount()
    const lease = await relay.register('demo', { account, away_page: true })
    await expectSite('demo', lease)
    await leave(lease)
    const answer = await visit('demo')
    expect(answer).toMatch(AWAY)
    expect(answer).toMatch(/\r\nRetry-After: \d+\r\n/)
    expect(answer).toContain("\r\nContent-Security-Policy: default-src 'none'; style-src 'sha256-")
    expect(answer).toContain('<h1>demo is not here right now</h1>')
    expect(answer).toContain(`href="${relay.origin}/go/demo"`)
    expect(answer).not.toMatch(/<script|Set-Cookie|Strict-Transport-Security/i)
    // The page is no site: /go/ waits.
    expect(await relay.call('GET', '/go/demo')).toMatchObject({ status: 503 })
    // The canonical hostname has no away page.
    expect(await visit(`demo-${account.address.slice(2).toLowerCase()}`)).toBe(NOBODY)
    await expectSite('demo', await relay.register('demo', { account }))
  })

  test('answers HEAD without a body, and every other request alike', async () => {
    await leave(await relay.register('demo', { away_page: true }))
    const get = await visit('demo')
    expect(await visit('demo', 'HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n')).toBe(
      `${get.split('\r\n\r\n')[0]}\r\n\r\n`,
    )
    for (const request of [
      'GET /other?q HTTP/1.1\r\nCookie: session=secret\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: demo\r\nContent-Length: 100\r\n\r\nhalf of a body',
      'POST / HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n',
      '\x00\x01 no request\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n',
    ])
      expect(await visit('demo', request), request).toBe(get)
  })

  test('cuts a head that does not end', async () => {
    await leave(await relay.register('demo', { away_page: true }))
    expect(await visit('demo', `GET /${'a'.repeat(100_000)}`)).not.toMatch(AWAY)
  })

  test('a network has so many connections to it, and more look like a name that nobody has', async () => {
    await leave(await relay.register('demo', { away_page: true }))
    const open = Array.from({ length: AWAY_CONNECTIONS_PER_NETWORK_MAX }, () =>
      relay.tls(`demo.${ROOT_HOST}`),
    )
    await Promise.all(open.map((socket) => once(socket, 'secureConnect')))
    expect(await visit('demo')).toBe(NOBODY)
    const [first] = open
    first!.destroy()
    await expect.poll(() => visit('demo')).toMatch(AWAY)
    for (const socket of open) socket.destroy()
  })
})

describe('nobody else has one', () => {
  test('neither a site that did not ask, nor a name that nobody had', async () => {
    await leave(await relay.register('plain'))
    expect(await visit('plain')).toBe(NOBODY)
    expect(await visit('nobody')).toBe(NOBODY)
  })

  test('nor a banned or denied site, nor a name that the operator gave to another identity', async () => {
    const accounts = [newAccount(), newAccount(), newAccount()]
    const names = ['banned', 'denied', 'pinned']
    for (const [index, name] of names.entries()) {
      await leave(await relay.register(name, { account: accounts[index]!, away_page: true }))
      expect(await visit(name)).toMatch(AWAY)
    }
    const [banned, denied] = accounts.map(({ address }, index) => `${names[index]}:${address.toLowerCase()}`)
    await administer('/api/policy/leases', { identity_key: banned, is_banned: true })
    await administer('/api/policy/leases', { identity_key: denied, is_denied: true })
    await administer('/api/policy/names', { name: 'pinned', address: newAccount().address })
    for (const name of names) expect(await visit(name), name).toBe(NOBODY)
  })

  test('nor a site that brought a certificate of its own, also when it asked (protocol §9.1.6)', async () => {
    const lease = await relay.register('own', { away_page: true })
    const csr = certificateRequest([lease.hostname]).toString('base64')
    const headers = { 'X-Svc-Access-Token': lease.access_token }
    expect(await relay.call('POST', '/sdk/certificate', { csr }, headers)).toMatchObject({ status: 200 })
    await leave(lease)
    expect(await visit('own')).toBe(NOBODY)
  })

  test('nor a lease that took the name of a site that asked', async () => {
    await leave(await relay.register('given', { away_page: true }))
    const next = newAccount()
    await administer('/api/policy/names', { name: 'given', address: next.address })
    const lease = await relay.register('given', { account: next })
    await expectSite('given', lease)
    await leave(lease)
    expect(await visit('given')).toBe(NOBODY)
  })
})

describe('after a restart of the relay (protocol §9.1.6)', () => {
  const restart = async (env: Record<string, string> = {}): Promise<void> => {
    await relay.stop()
    relay = await startTestRelay({ ADMIN_TOKEN, NAME_GRACE: '1h', ...env }, { directory: relay.directory })
  }

  test('a site that left before, and one that has not come back yet, have theirs until they come', async () => {
    const account = newAccount()
    await leave(await relay.register('left', { away_page: true }))
    await relay.register('gone', { account, away_page: true })
    await leave(await relay.register('plain'))
    await restart()
    for (const name of ['left', 'gone']) expect(await visit(name), name).toMatch(AWAY)
    expect(await visit('plain')).toBe(NOBODY)
    const lease = await relay.register('gone', { account })
    await expectSite('gone', lease)
    await leave(lease)
    await restart()
    // Its last lease did not ask.
    expect(await visit('gone')).toBe(NOBODY)
    expect(await visit('left')).toMatch(AWAY)
  })

  test('nobody has one who is banned, whose network is, or who has a certificate of its own', async () => {
    const account = newAccount()
    await leave(await relay.register('banned', { account, away_page: true }))
    const own = await relay.register('own', { away_page: true })
    const csr = certificateRequest([own.hostname]).toString('base64')
    const headers = { 'X-Svc-Access-Token': own.access_token }
    expect(await relay.call('POST', '/sdk/certificate', { csr }, headers)).toMatchObject({ status: 200 })
    await leave(own)
    await leave(await relay.register('other', { away_page: true }))
    const key = `banned:${account.address.toLowerCase()}`
    await administer('/api/policy/leases', { identity_key: key, is_banned: true })
    await restart()
    for (const name of ['banned', 'own']) expect(await visit(name), name).toBe(NOBODY)
    expect(await visit('other')).toMatch(AWAY)
    await administer('/api/policy/ips', { ip: '127.0.0.77', is_banned: true })
    expect(await visit('other')).toBe(NOBODY)
    await administer('/api/policy/ips', { ip: '127.0.0.77', is_banned: false })
    expect(await visit('other')).toMatch(AWAY)
  })
})

test('workers pass its visitors on to the process that has the page', async () => {
  const several = await startTestRelay({ SVC_WORKERS: '2' })
  try {
    const lease = await several.register('demo', { away_page: true })
    await several.call('POST', '/sdk/unregister', { access_token: lease.access_token })
    const socket = several.tls(`demo.${ROOT_HOST}`)
    socket.write('GET / HTTP/1.1\r\n\r\n')
    expect((await readAll(socket)).toString()).toMatch(AWAY)
  } finally {
    await several.close()
  }
})
