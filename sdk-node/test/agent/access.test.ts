// Who may ask the agent: the owner by a token, a wallet that signed in, and no page of another site, whatever name leads there.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { createPrivateKey, identityFromKey, type KeyIdentity } from '@svc/sdk-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AGENT_PATH, type SignIn, type Ticket, type WalletChallenge } from '../../src/agent/api-messages.ts'
import { BODY_MAX_BYTES, CONNECTIONS_MAX } from '../../src/agent/control-server.ts'
import { ENDPOINTS } from '../../src/agent/endpoints.ts'
import { SIGN_INS_MAX, SignIns, TICKETS_MAX } from '../../src/agent/sign-ins.ts'
import { CHALLENGE_TTL_MS, WalletChallenges } from '../../src/agent/wallet-challenges.ts'
import {
  type AgentHome,
  ANY_PORT,
  makeHome,
  NOWHERE,
  type RunningAgent,
  send,
  startAgent,
} from '../support/agent.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const wallet: KeyIdentity = identityFromKey(createPrivateKey())
const stranger: KeyIdentity = identityFromKey(createPrivateKey())

let home: AgentHome
let agent: RunningAgent
let port: number
beforeAll(async () => {
  const agentTable = `${ANY_PORT}allowed_wallets = ["${wallet.address}"]\n`
  home = await makeHome(`relay = "${NOWHERE}"\n${agentTable}\n[[tunnel]]\nname = "web"\nhttp = 3000\n`)
  agent = await startAgent(home)
  port = Number(new URL(agent.endpoint.url).port)
})
afterAll(async () => {
  await agent?.stop()
  await home.remove()
})

const bearer = (token = agent.endpoint.token) => ({ Authorization: `Bearer ${token}` })
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(agent.endpoint, 'POST', path, { ...JSON_TYPE, ...headers }, JSON.stringify(body))
const get = (path: string, headers: Record<string, string | string[]> = {}) =>
  send(agent.endpoint, 'GET', path, headers)
const refusal = (code: string) => ({ ok: false, error: { code, message: expect.any(String) } })

describe('in a browser', () => {
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const fields = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate', ...headers }
    const response = await readPage(agent.endpoint.url, path, fields)
    return response
  }

  it.each<[what: string, path: string, headers: Record<string, string>, status: number, title: string]>([
    ['an address of nothing', '/none', {}, 404, 'There is no such page'],
    ['an address for programs', AGENT_PATH.status, {}, 401, 'This address is for programs'],
    ['another name', '/', { Host: 'agent.example' }, 421, 'This is not the address of the agent'],
    [
      'a link of another page',
      '/none',
      { 'Sec-Fetch-Site': 'cross-site' },
      403,
      'This came from another page',
    ],
  ])('%s is a page', async (_, path, headers, status, title) => {
    const { response, text } = await open(path, headers)
    expect([response.statusCode, response.headers['content-type']]).toEqual([
      status,
      'text/html; charset=utf-8',
    ])
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' })
    expect(text).toMatch(
      new RegExp(`<html lang="en">.*<title>${title}</title>.*<h1>${title}</h1>\n<p>.+\\.</p>`, 's'),
    )
  })
})

async function readPage(url: string, path: string, headers: Record<string, string>) {
  const asked = request(`${url}${path}`, { headers, agent: false })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return { response, text: Buffer.concat(await response.toArray()).toString() }
}

describe('the bearer token', () => {
  it.each(Object.entries(ENDPOINTS).filter(([, { role }]) => role !== undefined))(
    'is needed for %s',
    async (path, { method }) => {
      for (const headers of [
        {},
        bearer('wrong'),
        bearer(`${agent.endpoint.token}x`),
        { Authorization: 'Basic eDp5' },
      ]) {
        const answer = await send(
          agent.endpoint,
          method,
          path,
          { ...JSON_TYPE, ...headers },
          method === 'POST' ? '{}' : undefined,
        )
        expect([answer.status, answer.json]).toEqual([401, refusal('unauthorized')])
      }
    },
  )

  it('is told by the status of the sign-in, and its end by nobody', async () => {
    expect((await get(AGENT_PATH.authStatus)).json.data).toEqual({ authenticated: false })
    expect((await get(AGENT_PATH.authStatus, bearer())).json.data).toEqual({
      authenticated: true,
      role: 'owner',
    })
    await post(AGENT_PATH.logout, {}, bearer())
    expect((await get(AGENT_PATH.status, bearer())).status).toBe(200)
  })
})

describe('a page of another site', () => {
  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1', '127.0.0.1.evil.example', '[::1]'])(
    'that reaches the agent as %j is misdirected, even with the token',
    async (host) => {
      const named = `${host}:${host === '127.0.0.1' ? 1 : port}`
      expect((await get(AGENT_PATH.status, { ...bearer(), Host: named })).json).toEqual(
        refusal('misdirected_request'),
      )
    },
  )

  it('that sends two names, or none, gets nothing', async () => {
    const own = `Host: 127.0.0.1:${port}`
    for (const names of [[own, 'Host: evil.example'], ['Host: evil.example', own], []]) {
      const socket = connect(port, '127.0.0.1')
      const fields = [...names, `Authorization: Bearer ${agent.endpoint.token}`, 'Connection: close']
      socket.write([`GET ${AGENT_PATH.status} HTTP/1.1`, ...fields, '', ''].join('\r\n'))
      expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 4/)
    }
  })

  it.each(['http://evil.example', 'null', 'https://127.0.0.1', 'http://127.0.0.1:1', 'http://localhost'])(
    'whose origin is %s gets nothing, and no CORS field',
    async (origin) => {
      const answer = await get(AGENT_PATH.status, { ...bearer(), Origin: origin })
      expect(answer.json).toEqual(refusal('forbidden_origin'))
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  it('asks in vain for leave (CORS preflight), and without an Origin but with Sec-Fetch-Site', async () => {
    const preflight = { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' }
    const answer = await send(agent.endpoint, 'OPTIONS', AGENT_PATH.shutdown, preflight)
    expect(answer.json).toEqual(refusal('forbidden_origin'))
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    for (const site of ['cross-site', 'same-site'])
      expect((await get(AGENT_PATH.authStatus, { 'Sec-Fetch-Site': site })).status).toBe(403)
  })

  it('gets no file of the page', async () => {
    const another = { 'Sec-Fetch-Site': 'cross-site' }
    for (const path of ['/index.js', '/requests-page.js', '/index.html'])
      expect((await get(path, another)).json).toEqual(refusal('forbidden_origin'))
  })

  it('sends no form that changes anything', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=a',
      'application/jsonp',
    ])
      expect(
        (await send(agent.endpoint, 'POST', AGENT_PATH.reload, { ...bearer(), 'Content-Type': type }, '{}'))
          .json,
      ).toEqual(refusal('unsupported_media_type'))
  })

  it('is kept out when its name leads to this machine (curl --resolve)', async () => {
    const url = `http://rebound.example:${port}${AGENT_PATH.status}`
    const options = [
      '-s',
      '--resolve',
      `rebound.example:${port}:127.0.0.1`,
      '-H',
      `Authorization: Bearer ${agent.endpoint.token}`,
    ]
    const { stdout } = await promisify(execFile)('curl', [...options, url])
    expect(JSON.parse(stdout)).toEqual(refusal('misdirected_request'))
  })

  it('is another one than the page of the agent itself, by address or as localhost', async () => {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`]) {
      const own = {
        ...bearer(),
        Host: host,
        Origin: `http://${host.toLowerCase()}`,
        'Sec-Fetch-Site': 'same-origin',
      }
      expect((await get(AGENT_PATH.status, own)).status).toBe(200)
    }
  })
})

describe('a request', () => {
  it.each<[string, string, string, string | undefined, string]>([
    ['of another method', 'DELETE', AGENT_PATH.status, undefined, 'method_not_allowed'],
    ['of another path', 'GET', '/agent/nothing', undefined, 'not_found'],
    ['of what every object has', 'GET', '/agent/../toString', undefined, 'not_found'],
    ['that is no JSON', 'POST', AGENT_PATH.reload, '{', 'invalid_json'],
    ['that is a list', 'POST', AGENT_PATH.reload, '[]', 'invalid_request'],
    ['with fields of a wrong type', 'POST', AGENT_PATH.pauseTunnel, '{"name":1}', 'invalid_request'],
    ['without its fields', 'POST', AGENT_PATH.addTunnel, '{}', 'invalid_request'],
    [
      'for more lines than there may be',
      'GET',
      `${AGENT_PATH.logs}?lines=1001`,
      undefined,
      'invalid_request',
    ],
    ['that is too long', 'POST', AGENT_PATH.reload, `{"a":"${'a'.repeat(BODY_MAX_BYTES)}"}`, 'too_large'],
  ])('%s is refused with a code', async (_, method, path, body, code) => {
    const answer = await send(agent.endpoint, method, path, { ...JSON_TYPE, ...bearer() }, body)
    expect([answer.status < 500, answer.json]).toEqual([true, refusal(code)])
  })

  it('has company: no more connections than the limit are taken', async () => {
    const sockets = Array.from({ length: CONNECTIONS_MAX + 8 }, () => connect(port, '127.0.0.1'))
    const ended = sockets.map((socket) => {
      socket.on('error', () => {})
      return new Promise<void>((resolve) => socket.once('close', () => resolve()))
    })
    const closed = await Promise.any(ended).then(() => true)
    expect(closed).toBe(true)
    for (const socket of sockets) socket.destroy()
    await Promise.all(ended)
    await expect.poll(async () => (await get(AGENT_PATH.authStatus).catch(() => undefined))?.status).toBe(200)
  })
})

async function challenge(of: KeyIdentity): Promise<WalletChallenge> {
  const { data, error } = (await post(AGENT_PATH.challenge, { address: of.address })).json
  if (error) throw new Error(error.code)
  return data!
}

function signed(
  { challenge_id, siwe_message }: WalletChallenge,
  by: KeyIdentity,
  text = siwe_message,
): object {
  return { challenge_id, siwe_message: text, siwe_signature: by.personalSign(text) }
}

describe('a wallet', () => {
  it('signs in, reads the status and nothing else, and signs out', async () => {
    const asked = await challenge(wallet)
    expect(asked.siwe_message).toContain(
      `127.0.0.1:${port} wants you to sign in with your Ethereum account:\n${wallet.address}\n`,
    )
    const { json } = await post(AGENT_PATH.login, signed(asked, wallet))
    const { access_token, role } = json.data! as SignIn
    expect(role).toBe('reader')
    expect((await get(AGENT_PATH.status, bearer(access_token))).status).toBe(200)
    expect((await get(AGENT_PATH.authStatus, bearer(access_token))).json.data).toMatchObject({
      role: 'reader',
      address: wallet.address,
    })
    for (const [path, { method, role }] of Object.entries(ENDPOINTS))
      if (role === 'owner') {
        const answer = await send(
          agent.endpoint,
          method,
          path,
          { ...JSON_TYPE, ...bearer(access_token) },
          method === 'POST' ? '{}' : undefined,
        )
        expect([path, answer.status, answer.json]).toEqual([path, 403, refusal('forbidden')])
      }
    await post(AGENT_PATH.logout, {}, bearer(access_token))
    expect((await get(AGENT_PATH.status, bearer(access_token))).status).toBe(401)
  })

  it('that is not in agent.allowed_wallets gets no challenge', async () => {
    expect((await post(AGENT_PATH.challenge, { address: stranger.address })).json).toEqual(
      refusal('forbidden'),
    )
    expect((await post(AGENT_PATH.challenge, { address: 'me' })).json).toEqual(refusal('invalid_request'))
  })

  it('of any address signs in where agent.allowed_wallets is empty', async () => {
    const text = await home.read()
    await home.write(text.replace(/allowed_wallets = .*/, 'allowed_wallets = []'))
    await agent.ask('POST', AGENT_PATH.reload, {})
    expect((await post(AGENT_PATH.login, signed(await challenge(stranger), stranger))).json.ok).toBe(true)
    await home.write(text)
    await agent.ask('POST', AGENT_PATH.reload, {})
    await expect(challenge(stranger)).rejects.toThrow('forbidden')
  })

  it('signs a challenge once: a replay is refused, and so is one that was not issued', async () => {
    const asked = await challenge(wallet)
    const login = signed(asked, wallet)
    expect((await post(AGENT_PATH.login, login)).status).toBe(200)
    expect((await post(AGENT_PATH.login, login)).json).toEqual(refusal('unauthorized'))
    const other = await challenge(wallet)
    const foreign = other.siwe_message.replaceAll(`127.0.0.1:${port}`, 'evil.example')
    for (const body of [
      signed(other, stranger),
      signed(other, wallet, foreign),
      signed(other, wallet, other.siwe_message.replace(/Nonce: ./, 'Nonce: g')),
      { ...signed(other, wallet), challenge_id: asked.challenge_id },
      { ...signed(other, wallet), siwe_signature: '0x' },
    ])
      expect((await post(AGENT_PATH.login, body)).json).toEqual(refusal('unauthorized'))
    expect((await post(AGENT_PATH.login, signed(other, wallet))).status).toBe(200)
  })

  it('has two minutes for it', async () => {
    let now = Date.now()
    const challenges = new WalletChallenges('http://127.0.0.1:4018', () => now)
    const asked = challenges.issue(wallet.address)
    now += CHALLENGE_TTL_MS
    await expect(challenges.redeem(signed(asked, wallet) as never)).rejects.toMatchObject({
      code: 'unauthorized',
    })
    now -= 1
    expect(await challenges.redeem(signed(asked, wallet) as never)).toBe(wallet.address)
  })

  it('is signed in until it is taken off the list', async () => {
    const { json } = await post(AGENT_PATH.login, signed(await challenge(wallet), wallet))
    const { access_token } = json.data! as SignIn
    const text = await home.read()
    await home.write(text.replace(wallet.address, stranger.address))
    await agent.ask('POST', AGENT_PATH.reload, {})
    expect((await get(AGENT_PATH.status, bearer(access_token))).status).toBe(401)
    await home.write(text)
    await agent.ask('POST', AGENT_PATH.reload, {})
  })
})

describe('sign-ins', () => {
  it('are bounded for each role, and a day long', () => {
    let now = 0
    const signIns = new SignIns('bearer', () => now)
    const owner = signIns.signIn('owner')
    const readers = Array.from({ length: SIGN_INS_MAX + 1 }, () => signIns.signIn('reader', wallet.address))
    const good = (signIn: SignIn) => signIns.callerOf(signIn.access_token)?.role
    expect([good(owner), good(readers[0]!), good(readers[1]!), good(readers.at(-1)!)]).toEqual([
      'owner',
      undefined,
      'reader',
      'reader',
    ])
    now = 24 * 3600 * 1000
    expect([good(owner), good(readers.at(-1)!), signIns.callerOf('bearer')?.role]).toEqual([
      undefined,
      undefined,
      'owner',
    ])
  })

  it('by a ticket work once, for a minute, and for so many tickets', async () => {
    const { ticket, url } = await agent.ask<Ticket>('POST', AGENT_PATH.ticket, {})
    expect(url).toBe(`${agent.endpoint.url}/#ticket=${ticket}`)
    const { json } = await post(AGENT_PATH.redeem, { ticket })
    const { access_token, role } = json.data! as SignIn
    expect([role, (await get(AGENT_PATH.config, bearer(access_token))).status]).toEqual(['owner', 200])
    expect((await post(AGENT_PATH.redeem, { ticket })).json).toEqual(refusal('unauthorized'))
    let now = 0
    const signIns = new SignIns('bearer', () => now)
    const tickets = Array.from({ length: TICKETS_MAX + 1 }, () => signIns.newTicket().ticket)
    expect(() => signIns.redeem(tickets[0]!)).toThrow()
    expect(signIns.redeem(tickets[1]!).role).toBe('owner')
    now = 60_000
    expect(() => signIns.redeem(tickets[2]!)).toThrow()
  })
})
