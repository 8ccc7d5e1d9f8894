// The tunnels of an agent at a real relay: changes by its API and by its file, and what goes on meanwhile.

import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPrivateKey, identityFromKey } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { askAgent } from '../../src/agent/agent-client.ts'
import {
  AGENT_PATH,
  type AgentConfig,
  type AgentStatus,
  type SignIn,
  type TunnelStatus,
  type WalletChallenge,
} from '../../src/agent/api-messages.ts'
import {
  type AgentHome,
  ANY_PORT,
  makeHome,
  NOWHERE,
  type RunningAgent,
  startAgent,
} from '../support/agent.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

let relay: TestRelay
let target: Server
let port: number
/** A response that is still being sent to a visitor of `/long`. */
let long: ServerResponse | undefined
const other = useStarted(startTestRelay)
beforeAll(async () => {
  relay = await startTestRelay()
  identities = await mkdtemp(join(tmpdir(), 'svc-agent-identities-'))
  target = createServer((request, response) => {
    if (request.url !== '/long') return void response.end('from the target')
    long = response
    response.write('begun ')
  })
  port = await listening(target)
})
afterAll(async () => {
  target.closeAllConnections()
  target.close()
  await relay.close()
  await rm(identities, { recursive: true })
})

/** The relay keeps a name for its last holder, so that the homes have their identities in common. */
let identities: string
let home: AgentHome
let agent: RunningAgent
const tunnelOf = (name: string) => `\n# ${name}\n[[tunnel]]\nname = "${name}"\nhttp = ${port} # its target\n`
const head = () => `relay = "${relay.origin}"\nca = "${relay.caFile}"\n\n${ANY_PORT}`
beforeEach(async () => {
  home = await makeHome(`${head()}${tunnelOf('one')}`)
  await symlink(identities, join(home.state, 'identities'))
  agent = await startAgent(home)
})
afterEach(async () => {
  await agent.stop()
  await home.remove()
})

const post = (path: string, body: object) => agent.ask('POST', path, body)

/** The status as a wallet sees it that has signed in. */
async function statusForReader(): Promise<AgentStatus> {
  const wallet = identityFromKey(createPrivateKey())
  const { challenge_id, siwe_message } = await agent.ask<WalletChallenge>('POST', AGENT_PATH.challenge, {
    address: wallet.address,
  })
  const siwe_signature = wallet.personalSign(siwe_message)
  const signed = { challenge_id, siwe_message, siwe_signature }
  const { access_token } = await agent.ask<SignIn>('POST', AGENT_PATH.login, signed)
  return await askAgent({ ...agent.endpoint, token: access_token }, 'GET', AGENT_PATH.status)
}

const tunnel = async (name: string): Promise<TunnelStatus | undefined> =>
  (await agent.status()).tunnels.find((each) => each.name === name)
const state = async (name: string) => (await tunnel(name))?.state
const online = (name: string, count = 1) =>
  expect
    .poll(async () => (await tunnel(name))?.relays.filter(({ state }) => state === 'online').length)
    .toBe(count)
const urlOf = (name: string, at = relay) => `https://${name}.relay.localhost:${at.port}`
const ask = async (name: string, at = relay) => text(await visit(at, urlOf(name, at)))

describe('the API of the agent', () => {
  it('adds, pauses, resumes, changes and removes a tunnel, in svc.toml and at the relay', async () => {
    await online('one')
    await post(AGENT_PATH.addTunnel, { settings: { name: 'two', http: port } })
    await online('two')
    expect([await ask('one'), await ask('two')]).toEqual(['from the target', 'from the target'])
    expect(await tunnel('two')).toMatchObject({
      state: 'running',
      target: `http ${port}`,
      named_relays: [relay.origin],
      relays: [
        { url: urlOf('two'), state: 'online', rtt_ms: expect.any(Number), bytes_out: expect.any(Number) },
      ],
    })
    const { requests } = await agent.status()
    expect(requests).toContainEqual({
      tunnel: 'two',
      method: 'GET',
      path: '/',
      status: 200,
      address: '127.0.0.0/24',
      ms: expect.any(Number),
    })
    const read = await statusForReader()
    expect(read.requests).toHaveLength(requests.length)
    for (const request of read.requests) expect(request).not.toHaveProperty('path')

    await post(AGENT_PATH.pauseTunnel, { name: 'two' })
    await expect.poll(() => state('two')).toBe('paused')
    await expect(ask('two')).rejects.toThrow()
    await post(AGENT_PATH.resumeTunnel, { name: 'two' })
    await online('two')

    await post(AGENT_PATH.changeTunnel, {
      name: 'two',
      settings: { routes: { '/api': port }, description: 'Two' },
    })
    await expect.poll(async () => (await tunnel('two'))?.target).toBe(`http ${port}, /api`)
    await online('two')
    const config = await agent.ask<AgentConfig>('GET', AGENT_PATH.config)
    expect(config).toEqual({
      path: home.config,
      shared: { relay: relay.origin, ca: relay.caFile },
      tunnels: [
        { name: 'one', http: port },
        { name: 'two', http: port, paused: false, routes: { '/api': port }, description: 'Two' },
      ],
    })
    await post(AGENT_PATH.removeTunnel, { name: 'two' })
    await expect.poll(() => tunnel('two')).toBeUndefined()
    await expect(ask('two')).rejects.toThrow()
    expect(await home.read()).toBe(`${head()}${tunnelOf('one')}`)
    expect(await ask('one')).toBe('from the target')
  })

  it('guards a tunnel, stores a hash of its password, and shows no secret again', async () => {
    await online('one')
    const bearer = 'a-token-of-some-length'
    const set = (access: object | null) =>
      post(AGENT_PATH.changeTunnel, { name: 'one', settings: { access } })
    await set({ password: 'open sesame', users: { alice: 'hers' }, bearer, allow_ip: ['127.0.0.0/8'] })
    const written = await home.read()
    expect(written).toMatch(/access = { password = "scrypt:[\w-]{22}:[\w-]{43}", users = { alice = "scrypt:/)
    expect(written).not.toMatch(/open sesame|hers/)
    const config = await agent.ask<AgentConfig>('GET', AGENT_PATH.config)
    expect(config.tunnels[0]!.access).toEqual({
      password: true,
      users: { alice: true },
      bearer: true,
      allow_ip: ['127.0.0.0/8'],
    })
    expect(JSON.stringify(config)).not.toMatch(/scrypt|a-token/)

    const answer = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { Authorization: authorization }
      const { statusCode } = (await visit(relay, urlOf('one'), '/', { headers })).resume()
      return statusCode
    }
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    await expect.poll(() => answer().catch(() => 0)).toBe(401)
    expect([
      await answer(basic('alice:hers')),
      await answer(basic('alice:open sesame')),
      await answer(basic('bob:open sesame')),
      await answer(`Bearer ${bearer}`),
    ]).toEqual([200, 401, 200, 200])

    await expect(set({ rate: 'fast' })).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await home.read()).toBe(written)
    await set({ password: null, users: null, bearer: null, allow_ip: null })
    expect(await home.read()).toBe(`${head()}${tunnelOf('one')}`)
    await expect.poll(() => ask('one').catch(() => '')).toBe('from the target')
  })

  it('connects and disconnects a relay of a tunnel, and of all', async () => {
    await online('one')
    await post(AGENT_PATH.changeTunnel, { name: 'one', settings: { ca: await bothAuthorities() } })
    await post(AGENT_PATH.connectRelay, { relay: other.origin, name: 'one' })
    await online('one', 2)
    expect(await ask('one', other)).toBe('from the target')
    await post(AGENT_PATH.disconnectRelay, { relay: relay.origin, name: 'one' })
    await expect
      .poll(async () => (await tunnel('one'))?.relays.map(({ relay }) => relay))
      .toEqual([other.origin])
    for (const [body, code] of [
      [{ relay: other.origin, name: 'one' }, 'invalid_request'],
      [{ relay: relay.origin, name: 'one' }, 'invalid_request'],
      [{ relay: 'http://a.example', name: 'one' }, 'invalid_request'],
      [{ relay: other.origin, name: 'two' }, 'tunnel_not_found'],
    ] as const)
      await expect(post(AGENT_PATH.disconnectRelay, body)).rejects.toMatchObject({ code })
    await post(AGENT_PATH.connectRelay, { relay: NOWHERE })
    expect(await home.read()).toContain(`relay = [ "${relay.origin}", "${NOWHERE}" ]\n`)
  })

  it.each<[string, string, () => object, string]>([
    [
      'an unknown field',
      AGENT_PATH.addTunnel,
      () => ({ settings: { name: 'x', htpp: 1 } }),
      'htpp is not known',
    ],
    [
      'a name that is there',
      AGENT_PATH.addTunnel,
      () => ({ settings: { name: 'one', http: 1 } }),
      'is there twice',
    ],
    ['no name', AGENT_PATH.addTunnel, () => ({ settings: { http: 1 } }), 'name is missing'],
    [
      'a null',
      AGENT_PATH.addTunnel,
      () => ({ settings: { name: 'x', http: null } }),
      'has a value that no field may have',
    ],
    [
      'a list of lists',
      AGENT_PATH.changeTunnel,
      () => ({ name: 'one', settings: { tags: [[1]] } }),
      'has a value that no field may have',
    ],
    [
      'a table in a table',
      AGENT_PATH.changeTunnel,
      () => ({ name: 'one', settings: { access: { users: { alice: { a: 'b' } } } } }),
      'has a value that no field may have',
    ],
    [
      'a null in a new tunnel',
      AGENT_PATH.addTunnel,
      () => ({ settings: { name: 'x', http: 1, access: { password: null } } }),
      'has a value that no field may have',
    ],
    [
      'true for a password, as it is shown',
      AGENT_PATH.changeTunnel,
      () => ({ name: 'one', settings: { access: { password: true } } }),
      'access.password must be a text',
    ],
    [
      'another name',
      AGENT_PATH.changeTunnel,
      () => ({ name: 'one', settings: { name: 'x' } }),
      'keeps its name',
    ],
    [
      'a tunnel that is not there',
      AGENT_PATH.changeTunnel,
      () => ({ name: 'x', settings: {} }),
      'no tunnel x',
    ],
    [
      'a control character',
      AGENT_PATH.addTunnel,
      () => ({ settings: { name: 'x', http: 1, __proto__: null, 'a\nb': 1 } }),
      'is not known',
    ],
  ])('refuses %s, and svc.toml stays', async (_, path, body, message) => {
    const before = await home.read()
    await expect(post(path, body())).rejects.toMatchObject({ message: expect.stringContaining(message) })
    expect(await home.read()).toBe(before)
  })

  it('never writes over what somebody edited meanwhile', async () => {
    const edited = `${await home.read()}# mine\n`
    await home.write(edited)
    for (const [path, body] of [
      [AGENT_PATH.addTunnel, { settings: { name: 'two', http: 1 } }],
      [AGENT_PATH.pauseTunnel, { name: 'one' }],
    ] as const)
      await expect(post(path, body)).rejects.toMatchObject({ code: 'config_changed' })
    expect(await home.read()).toBe(edited)
    await post(AGENT_PATH.reload, {})
    await post(AGENT_PATH.addTunnel, { settings: { name: 'two', http: 1, paused: true } })
    expect(await home.read()).toContain('# mine\n\n[[tunnel]]\nname = "two"\n')
  })

  it('makes changes one after the other', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    await Promise.all(
      names.map((name) => post(AGENT_PATH.addTunnel, { settings: { name, http: 1, paused: true } })),
    )
    expect((await agent.status()).tunnels.map(({ name }) => name)).toEqual(['one', ...names])
  })
})

describe('a reload', () => {
  it('adds, changes and removes what differs; a visitor of another tunnel notices nothing', async () => {
    await home.write(`${head()}${tunnelOf('one')}${tunnelOf('two')}${tunnelOf('three')}`)
    await post(AGENT_PATH.reload, {})
    await online('two')
    await online('three')
    const visitor = await visit(relay, urlOf('one'), '/long')
    await expect.poll(() => long).toBeDefined()
    await home.write(
      `${head()}${tunnelOf('one')}${tunnelOf('two').replace(String(port), '"127.0.0.1:1"')}${tunnelOf('four')}`,
    )
    await post(AGENT_PATH.reload, {})
    await online('four')
    await expect.poll(async () => (await tunnel('two'))?.target).toBe('http 127.0.0.1:1')
    await expect.poll(() => tunnel('three')).toBeUndefined()
    expect((await agent.status()).tunnels.map(({ name }) => name)).toEqual(['one', 'two', 'four'])
    long!.end('and ended')
    expect(await text(visitor)).toBe('begun and ended')
    expect((await tunnel('one'))!.relays[0]!.reconnects).toBe(0)
  })

  it('of a broken file says where, and what ran goes on', async () => {
    await online('one')
    await home.write(`${head()}[[tunnel]\n`)
    await expect(post(AGENT_PATH.reload, {})).rejects.toMatchObject({
      code: 'config_unusable',
      message: expect.stringContaining(`${home.config}:6:`),
    })
    expect((await agent.status()).config.error).toContain(':6:')
    expect(await ask('one')).toBe('from the target')
    await home.write(`${head()}${tunnelOf('one')}`)
    await post(AGENT_PATH.reload, {})
    expect((await agent.status()).config.error).toBeUndefined()
  })
})

wholeOnly(it, 'clock')(
  'tries again when the relay was not there yet, and has the same identity and URL after another start',
  async () => {
    await agent.stop()
    const port = relay.port
    await relay.kill()
    agent = await startAgent(home)
    await expect.poll(async () => (await tunnel('one'))?.retry_at).toBeDefined()
    expect(await tunnel('one')).toMatchObject({ state: 'ended', failure: { code: 'relay_unreachable' } })
    await relay.start()
    expect(relay.port).toBe(port)
    await online('one')
    const { canonical_url } = (await tunnel('one'))!.relays[0]!
    await agent.stop()
    agent = await startAgent(home)
    await online('one')
    expect((await tunnel('one'))!.relays[0]).toMatchObject({ url: urlOf('one'), canonical_url })
  },
)

async function bothAuthorities(): Promise<string> {
  const path = `${home.path}/both.pem`
  await writeFile(path, relay.ca + other.ca)
  return path
}
