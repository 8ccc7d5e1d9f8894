// Who gets in, who does not, and what a forged, old, repeated or foreign proof is worth: by HTTP on a real socket.

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { CHALLENGES_BURST, CHECKS_BURST } from '../../../src/handlers/wallet/limits.ts'
import { parseSiwe, siweMessage } from '../../../src/siwe/index.ts'
import { newAccount, WalletSite } from './wallet-site.ts'

const alice = newAccount()
const mallory = newAccount()
const KEY = new Uint8Array(32).fill(7)
const seen: Request[] = []
let site: WalletSite

beforeAll(async () => {
  const handler = (request: Request) => {
    seen.push(request)
    const isShared = new URL(request.url).pathname === '/shared'
    return new Response('inside', {
      headers: { Vary: 'Accept', ...(isShared && { 'Cross-Origin-Resource-Policy': 'cross-origin' }) },
    })
  }
  site = await WalletSite.start(handler, { wallets: [alice.address.toLowerCase()], key: KEY })
})
afterAll(() => site.close())
afterEach(() => {
  vi.useRealTimers()
  seen.length = 0
})

const PAGE = { Accept: 'text/html,*/*', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'none' }

describe('a visitor without a session', () => {
  test('sees the page at the very address that it asked for, with a strict policy', async () => {
    const { status, headers, text } = await site.ask('/deep?a=b', { headers: PAGE })
    expect(status).toBe(401)
    expect(text).toContain('Signing costs nothing.')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('vary')).toMatch(/cookie/i)
    expect(headers.get('www-authenticate')).toContain(`${site.origin}/.svc/wallet`)
    const policy = headers.get('content-security-policy')!
    const [, nonce] = /script-src 'nonce-([^']+)'/.exec(policy)!
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(text).toContain(`<script nonce="${nonce}">`)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect((await site.ask('/', { headers: PAGE })).headers.get('content-security-policy')).not.toBe(policy)
  })

  test('gets JSON or a line of text with a link when it is a program', async () => {
    const json = await site.ask('/api', { headers: { Accept: 'application/json' } })
    expect(json.status).toBe(401)
    expect(JSON.parse(json.text)).toMatchObject({
      error: 'unauthorized',
      sign_in: `${site.origin}/.svc/wallet`,
    })
    // The scripts of a page ask for HTML at times; the browser says that nobody will look at it.
    const script = await site.ask('/', { headers: { Accept: 'text/html', 'Sec-Fetch-Mode': 'cors' } })
    expect(script.headers.get('content-type')).toMatch(/^text\/plain/)
    expect((await site.ask('/')).text).toContain(`${site.origin}/.svc/wallet`)
  })

  test('never gets to the handler, by no method and no path', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])
      for (const path of ['/', '/.svc', '/.svc/walletx', '/.SVC/wallet', '/.svc%2fwallet', '//.svc/wallet'])
        expect([(await site.ask(path, { method })).status, method, path]).toEqual([401, method, path])
    expect(seen).toEqual([])
  })
})

describe('a sign-in', () => {
  test('is of a message that names origin, chain and times, and gives a cookie for this host alone', async () => {
    const message = parseSiwe(await site.challenge(alice.address.toLowerCase()))!
    const { host } = new URL(site.origin)
    expect(message).toMatchObject({ domain: host, uri: site.origin, chainId: 1, address: alice.address })
    expect(Date.parse(message.expirationTime!) - Date.parse(message.issuedAt)).toBe(120_000)
    const text = siweMessage({
      ...message,
      statement: message.statement!,
      expirationTime: message.expirationTime!,
    })
    const answer = await site.post('sign-in', {
      message: text,
      signature: await alice.signMessage({ message: text }),
    })
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual({ address: alice.address })
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-svc-wallet=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=86400$/,
    )
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('lets the visitor in; caches keep signed-in answers apart', async () => {
    const cookie = await site.signIn(alice)
    const { status, text, headers } = await site.ask('/', { headers: { Cookie: `a=b; ${cookie}; c=d` } })
    expect([status, text]).toEqual([200, 'inside'])
    expect(headers.get('vary')).toBe('Accept, Cookie')
    expect(seen[0]!.headers.get('x-svc-wallet')).toBe(alice.address)
    // The session's cookie is for the sign-in alone.
    expect(seen[0]!.headers.get('cookie')).toBe('a=b; c=d')
  })

  test('of a wallet that is not on the list ends with words, and no sooner than its signature is right', async () => {
    const message = await site.challenge(mallory.address)
    const wrong = await site.post('sign-in', { message, signature: await alice.signMessage({ message }) })
    expect([wrong.status, JSON.parse(wrong.text).error]).toEqual([401, 'unauthorized'])
    const again = await site.challenge(mallory.address)
    const right = await site.post('sign-in', {
      message: again,
      signature: await mallory.signMessage({ message: again }),
    })
    expect([right.status, JSON.parse(right.text).error]).toEqual([403, 'wallet_not_listed'])
    expect(JSON.parse(right.text).message).toContain(mallory.address)
    expect(right.headers.get('set-cookie')).toBeNull()
  })

  test('works once: a message that was used is refused, also after a wrong signature', async () => {
    const message = await site.challenge(alice.address)
    const signature = await alice.signMessage({ message })
    expect((await site.post('sign-in', { message, signature })).status).toBe(200)
    const repeated = await site.post('sign-in', { message, signature })
    expect([repeated.status, JSON.parse(repeated.text).message]).toEqual([
      401,
      expect.stringContaining('used already'),
    ])
    const other = await site.challenge(alice.address)
    await site.post('sign-in', { message: other, signature })
    const late = await site.post('sign-in', {
      message: other,
      signature: await alice.signMessage({ message: other }),
    })
    expect(late.status).toBe(401)
  })

  test('of two at the same time with one message, one wins', async () => {
    const message = await site.challenge(alice.address)
    const body = { message, signature: await alice.signMessage({ message }) }
    const both = await Promise.all([site.post('sign-in', body), site.post('sign-in', body)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test('after two minutes is refused', async () => {
    const message = await site.challenge(alice.address)
    const signature = await alice.signMessage({ message })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 })
    const { status, text } = await site.post('sign-in', { message, signature })
    expect([status, JSON.parse(text).message]).toEqual([401, expect.stringContaining('too late')])
  })

  test.each(['80', '443', '34100'])(
    'is refused for a Host with port %s, which is not the site’s: a server there could pass the message on',
    async (port) => {
      const { status, text } = await site.post(
        'challenge',
        { address: alice.address },
        { Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}` },
      )
      expect([status, text]).toEqual([421, 'misdirected request'])
    },
  )

  test('names the site’s own port when a Host names none', async () => {
    const message = await site.challenge(alice.address, { Host: '127.0.0.1' })
    expect(message.split(' ', 1)[0]).toBe(`127.0.0.1:${site.port}`)
    expect(message).toContain(`URI: ${site.origin}\n`)
  })

  test.each<[string, (message: string) => string]>([
    ['another domain', (text) => text.replace(/^\S+/, 'other.example')],
    ['another URI', (text) => text.replace(/URI: .*/, 'URI: https://other.example')],
    ['another chain', (text) => text.replace('Chain ID: 1', 'Chain ID: 5')],
    ['another statement', (text) => text.replace('Sign in', 'Sign up')],
    ['a later expiry', (text) => text.replace(/Expiration Time: 20/, 'Expiration Time: 21')],
    ['a resource more', (text) => `${text}\nResources:\n- https://other.example/`],
    ['another account', (text) => text.replace(mallory.address, alice.address)],
    ['a nonce of its own', (text) => text.replace(/Nonce: \w+/, `Nonce: ${'a'.repeat(60)}`)],
    ['a nonce cut', (text) => text.replace(/(Nonce: \w+)\w/, '$1')],
    ['no message at all', () => 'let me in'],
  ])('with %s is of no message that was issued', async (_what, change) => {
    const message = change(await site.challenge(mallory.address))
    const signature = await alice.signMessage({ message })
    const { status, text } = await site.post('sign-in', { message, signature })
    expect([status, JSON.parse(text).message]).toEqual([
      401,
      expect.stringContaining('not a message that this site asked'),
    ])
  })

  test('with the challenge of another host of the site, or of another handler, is refused', async () => {
    const asked = await site.challenge(alice.address, {
      Host: 'other.example',
      Origin: `https://other.example:${site.port}`,
    })
    const other = await WalletSite.start(() => new Response(), { wallets: [alice.address] })
    const foreign = (await other.challenge(alice.address)).replaceAll(String(other.port), String(site.port))
    other.close()
    const renamed = asked.replaceAll('other.example', '127.0.0.1')
    for (const message of [asked, foreign, renamed]) {
      const { status } = await site.post('sign-in', {
        message,
        signature: await alice.signMessage({ message }),
      })
      expect(status).toBe(401)
    }
  })

  test('that a page of another site sends is refused, and so is a challenge', async () => {
    const foreign = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'null', 'Sec-Fetch-Site': 'same-site' },
      { Origin: `https://evil.127.0.0.1:${site.port}` },
      { Origin: `http://127.0.0.1:${site.port}` },
    ]
    for (const headers of foreign)
      for (const action of ['challenge', 'sign-in', 'sign-out'])
        expect((await site.post(action, {}, headers)).status).toBe(403)
    const form = await site.ask('/.svc/wallet/challenge', {
      method: 'POST',
      body: `{"address":"${alice.address}"}`,
    })
    expect(form.status).toBe(400)
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['no fields', {}],
    ['numbers', { message: 1, signature: 2 }],
    ['a long body', { message: 'a'.repeat(17_000), signature: '0x' }],
  ])('with %s is a wrong request', async (_what, body) => {
    expect((await site.post('sign-in', body)).status).toBe(400)
    expect((await site.post('challenge', body)).status).toBe(400)
  })

  test('other methods and paths are answered in words', async () => {
    expect((await site.ask('/.svc/wallet/sign-out')).status).toBe(405)
    expect((await site.ask('/.svc/wallet', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD')
    for (const path of ['constructor', '', 'challenge/', '__proto__'])
      expect((await site.ask(`/.svc/wallet/${path}`, { method: 'POST' })).status).toBe(404)
  })
})

describe('a cookie', () => {
  const status = async (cookie: string, at: WalletSite = site, headers = {}): Promise<number> =>
    (await at.ask('/', { headers: { Cookie: cookie, ...headers } })).status

  test('that is cut, extended or changed anywhere opens nothing', async () => {
    const cookie = await site.signIn(alice)
    const from = cookie.indexOf('=') + 1
    expect(await status(cookie)).toBe(200)
    expect(await status(cookie.slice(0, -1))).toBe(401)
    expect(await status(`${cookie}A`)).toBe(401)
    expect(await status(`${cookie}=`)).toBe(401)
    expect(await status(cookie.replace('__Host-', ''))).toBe(401)
    for (let at = from; at < cookie.length; at += 3) {
      const other = cookie[at] === '0' ? '1' : '0'
      expect([at, await status(cookie.slice(0, at) + other + cookie.slice(at + 1))]).toEqual([at, 401])
    }
    // The last digit of base64 has bits that mean nothing.
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
      if (!cookie.endsWith(last)) expect(await status(cookie.slice(0, -1) + last)).toBe(401)
  })

  test('of another host, or of a handler with another key, opens nothing; one with the same key does', async () => {
    const cookie = await site.signIn(alice)
    expect(await status(cookie, site, { Host: 'other.example' })).toBe(401)
    const handler = () => new Response('inside')
    const stranger = await WalletSite.start(handler, { wallets: [alice.address] }, site.port)
    const host = { Host: `127.0.0.1:${site.port}` }
    expect(await status(cookie, stranger, host)).toBe(401)
    stranger.close()
    const restarted = await WalletSite.start(handler, { wallets: [alice.address], key: KEY }, site.port)
    expect(await status(cookie, restarted, host)).toBe(200)
    restarted.close()
    const withoutHer = await WalletSite.start(handler, { wallets: [mallory.address], key: KEY }, site.port)
    expect(await status(cookie, withoutHer, host)).toBe(401)
    withoutHer.close()
  })

  test('is good for 24 hours', async () => {
    const cookie = await site.signIn(alice)
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: now + 86_000_000 })
    expect(await status(cookie)).toBe(200)
    vi.setSystemTime(now + 86_400_001)
    expect(await status(cookie)).toBe(401)
  })

  test('is worth nothing after the sign-out, also a copy of it; other sessions stay', async () => {
    const cookie = await site.signIn(alice)
    const other = await site.signIn(alice)
    expect((await site.ask('/.svc/wallet', { headers: { Cookie: cookie } })).text).toContain(alice.address)
    const out = await site.post('sign-out', {}, { Cookie: cookie })
    expect(out.status).toBe(200)
    expect(out.headers.get('set-cookie')).toMatch(/^__Host-svc-wallet=; .*Max-Age=0$/)
    expect(await status(cookie)).toBe(401)
    expect((await site.post('sign-out', {}, { Cookie: cookie })).status).toBe(401)
    expect(await status(other)).toBe(200)
  })
})

describe('a page of another site', () => {
  test('changes nothing with the visitor’s cookie, and opens no WebSocket', async () => {
    const cookie = await site.signIn(alice)
    const from = (headers: Record<string, string>, method = 'POST') =>
      site.ask('/', { method, headers: { Cookie: cookie, ...headers } })
    const evil = `https://evil.127.0.0.1:${site.port}`
    expect((await from({ Origin: evil })).status).toBe(403)
    expect((await from({ Origin: 'null', 'Sec-Fetch-Site': 'same-site' })).status).toBe(403)
    expect((await from({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    const handshake = { Connection: 'Upgrade', Upgrade: 'websocket', Origin: evil }
    expect((await from(handshake, 'GET')).status).toBe(403)
    expect(seen).toEqual([])
    expect((await from({ Origin: site.origin })).status).toBe(200)
    // A form of the site's own page with `Referrer-Policy: no-referrer`.
    expect((await from({ Origin: 'null', 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
    expect((await from({ 'Sec-Fetch-Site': 'cross-site' }, 'GET')).status).toBe(200)
  })
})

describe('a response', () => {
  test('is no part of a page of a sibling hostname, unless the handler lets it be one', async () => {
    const headers = { Cookie: await site.signIn(alice) }
    const inside = await site.ask('/', { headers })
    expect(inside.headers.get('Cross-Origin-Resource-Policy')).toBe('same-origin')
    const shared = await site.ask('/shared', { headers })
    expect(shared.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
  })
})

describe('the field X-Svc-Wallet', () => {
  test.each([
    'X-Svc-Wallet',
    'x-svc-wallet',
    'X-SVC-WALLET',
    'X_Svc_Wallet',
    'x-svc_wallet',
    'X.Svc.Wallet',
    'x_svc-wallet',
  ])('is not what a visitor says as %s', async (name) => {
    const cookie = await site.signIn(alice)
    await site.ask('/', { headers: { Cookie: cookie, [name]: mallory.address } })
    const [request] = seen
    const alike = [...request!.headers].filter(([key]) => /^x.svc.wallet$/.test(key))
    expect(alike).toEqual([['x-svc-wallet', alice.address]])
    expect(new Request(request!).headers.get('x-svc-wallet')).toBe(alice.address)
  })

  test('is not one of the fields that a visitor lets a proxy drop', async () => {
    const cookie = await site.signIn(alice)
    await site.ask('/', { headers: { Cookie: cookie, Connection: 'close, X-Svc-Wallet, x_svc_wallet' } })
    expect(seen[0]!.headers.get('connection')).toBe('close')
    await site.ask('/', { headers: { Cookie: cookie, Connection: 'X-SVC-Wallet' } })
    expect(seen[1]!.headers.get('connection')).toBeNull()
  })

  test('is not one of a trailer', async () => {
    const cookie = await site.signIn(alice)
    const { connect } = await import('node:net')
    const socket = connect(site.port, '127.0.0.1')
    socket.write(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${site.port}\r\nCookie: ${cookie}\r\nTransfer-Encoding: chunked\r\nTrailer: X-Svc-Wallet\r\nConnection: close\r\n\r\n1\r\na\r\n0\r\nX-Svc-Wallet: ${mallory.address}\r\n\r\n`,
    )
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text).toMatch(/^HTTP\/1.1 200/)
    expect([...seen[0]!.headers.values()].join()).not.toContain(mallory.address)
    expect(seen[0]!.headers.get('x-svc-wallet')).toBe(alice.address)
  })
})

describe('floods, in no time', () => {
  const flood = async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const flooded = await WalletSite.start(() => new Response(), { wallets: [alice.address] })
    const message = await flooded.challenge(alice.address)
    const signature = await alice.signMessage({ message })
    return { flooded, proof: { message, signature } }
  }

  test('challenges above the rate are refused, and a visitor who has one signs in all the same', async () => {
    const { flooded, proof } = await flood()
    const asked = Array.from({ length: 300 }, () => flooded.post('challenge', { address: mallory.address }))
    const refused = (await Promise.all(asked)).filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(300 - CHALLENGES_BURST)
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
    expect((await flooded.post('sign-in', proof)).status).toBe(200)
    flooded.close()
  })

  test('signatures of other wallets above the rate are not checked, and those of the list are', async () => {
    const { flooded, proof } = await flood()
    const statuses: number[] = []
    for (let round = 0; round <= CHECKS_BURST; round++) {
      const message = await flooded.challenge(mallory.address)
      statuses.push((await flooded.post('sign-in', { message, signature: `0x${'11'.repeat(65)}` })).status)
    }
    expect(statuses).toEqual([...Array.from({ length: CHECKS_BURST }, () => 401), 429])
    expect((await flooded.post('sign-in', proof)).status).toBe(200)
    flooded.close()
  })
})
