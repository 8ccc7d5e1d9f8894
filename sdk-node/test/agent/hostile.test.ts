// Hostile clients of the agent: what they send, how long they take for it, and what they ask to be written into svc.toml.

import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createPrivateKey, identityFromKey } from '@svc/sdk-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AGENT_PATH } from '../../src/agent/api-messages.ts'
import { CONNECTIONS_MAX } from '../../src/agent/control-server.ts'
import { WalletChallenges } from '../../src/agent/wallet-challenges.ts'
import { showLogs } from '../../src/cli/agent/agent-commands.ts'
import { makeReporter } from '../../src/cli/report/reporter.ts'
import {
  type AgentHome,
  ANY_PORT,
  makeHome,
  NOWHERE,
  type RunningAgent,
  send,
  startAgent,
} from '../support/agent.ts'

/** Milliseconds between two bytes of a client that sends its request slowly. */
const TRICKLE_MS = 250
/** More levels than a function that calls itself could follow. */
const DEPTH = 20_000

let home: AgentHome
let agent: RunningAgent
let port: number
beforeAll(async () => {
  home = await makeHome(
    `relay = "${NOWHERE}"\n${ANY_PORT}\n[[tunnel]]\nname = "web"\nhttp = 3000\npaused = true\n`,
  )
  agent = await startAgent(home)
  port = Number(new URL(agent.endpoint.url).port)
})
afterAll(async () => {
  await agent?.stop()
  await home.remove()
})

const bearer = () => ({ Authorization: `Bearer ${agent.endpoint.token}` })

/** Resolves with all that comes back for these bytes. */
async function answerTo(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return Buffer.concat(await socket.toArray()).toString()
}

describe('a request target', () => {
  it.each(['http://evil.example', 'https://127.0.0.1', '//evil.example', 'ftp://127.0.0.1'])(
    'that begins with %s is of another server, whatever Host says',
    async (begin) => {
      const fields = [
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${agent.endpoint.token}`,
        'Connection: close',
      ]
      for (const path of [AGENT_PATH.status, '/']) {
        const answer = await answerTo([`GET ${begin}${path} HTTP/1.1`, ...fields, '', ''].join('\r\n'))
        expect(answer).toMatch(/^HTTP\/1\.1 421 /)
      }
      const own = [`GET http://127.0.0.1:${port}${AGENT_PATH.status} HTTP/1.1`, ...fields, '', ''].join(
        '\r\n',
      )
      expect(await answerTo(own)).toMatch(/^HTTP\/1\.1 200 /)
    },
  )

  it('of a second request on the same connection is checked by its own Host', async () => {
    const authorization = `Authorization: Bearer ${agent.endpoint.token}`
    const first = [`GET ${AGENT_PATH.status} HTTP/1.1`, `Host: 127.0.0.1:${port}`, authorization, '', '']
    const second = [`GET ${AGENT_PATH.status} HTTP/1.1`, 'Host: evil.example', authorization, '', '']
    const answer = await answerTo([...first, ...second].join('\r\n'))
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 421'])
  })

  it.each([
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Upgrade: h2c\r\nConnection: Upgrade',
    'Expect: 100-continue',
  ])('with %j is checked as any other', async (more) => {
    const answer = await answerTo(
      `GET ${AGENT_PATH.status} HTTP/1.1\r\nHost: evil.example\r\n${more}\r\n\r\n`,
    )
    expect(answer).toMatch(/HTTP\/1\.1 421 /)
    expect(answer).not.toContain('HTTP/1.1 101')
  })
})

it('gives the connections of slow senders to others', async () => {
  const slow = Array.from({ length: CONNECTIONS_MAX }, () => connect(port, '127.0.0.1'))
  for (const socket of slow) {
    socket.on('error', () => {})
    socket.write(`GET ${AGENT_PATH.authStatus} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nSlow: `)
  }
  const trickle = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write('a')
  }, TRICKLE_MS)
  try {
    await expect
      .poll(() => send(agent.endpoint, 'GET', AGENT_PATH.authStatus).catch(() => undefined), {
        timeout: 15_000,
      })
      .toMatchObject({ status: 200 })
  } finally {
    clearInterval(trickle)
    for (const socket of slow) socket.destroy()
  }
})

describe('a setting that svc.toml cannot hold', () => {
  it.each<[string, string]>([
    ['a list without end', `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`],
    ['a table without end', `${'{"a":'.repeat(DEPTH / 2)}1${'}'.repeat(DEPTH / 2)}`],
    ['null in a list', '[null]'],
    ['null in a table', '{"a":null}'],
    ['half a character', '"\\ud800"'],
    ['half a character as a name', '{"\\udfff":1}'],
    ['an invalid number', '1e400'],
    ['a fraction', '1.5'],
  ])('%s is refused, and the file stays', async (_, value) => {
    const before = await home.read()
    const fields = { 'Content-Type': 'application/json', ...bearer() }
    for (const field of ['description', 'http', 'routes', 'tags', 'name', '__proto__'])
      for (const [path, body] of [
        [AGENT_PATH.addTunnel, `{"settings":{"name":"two","http":1,"${field}":${value}}}`],
        [AGENT_PATH.changeTunnel, `{"name":"web","settings":{"${field}":${value}}}`],
      ] as const) {
        const { status, json } = await send(agent.endpoint, 'POST', path, fields, body)
        expect([field, status, json.error?.code]).toEqual([field, 400, 'invalid_request'])
      }
    expect(await home.read()).toBe(before)
  })
})

it('takes the answer to a challenge once, also when it comes twice at the same time', async () => {
  const wallet = identityFromKey(createPrivateKey())
  const challenges = new WalletChallenges('http://127.0.0.1:4018')
  const { challenge_id, siwe_message } = challenges.issue(wallet.address)
  const login = { challenge_id, siwe_message, siwe_signature: wallet.personalSign(siwe_message) }
  const outcomes = await Promise.allSettled([challenges.redeem(login), challenges.redeem(login)])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

describe('svc.toml', () => {
  it('in another encoding than UTF-8 is refused, and keeps its bytes', async () => {
    const text = await home.read()
    const latin1 = Buffer.from(`# für mich\n${text}`, 'latin1')
    await writeFile(home.config, latin1)
    await expect(agent.ask('POST', AGENT_PATH.reload, {})).rejects.toMatchObject({
      code: 'config_unusable',
      message: `${home.config} is not UTF-8: save it in that encoding`,
    })
    await expect(agent.ask('POST', AGENT_PATH.resumeTunnel, { name: 'web' })).rejects.toMatchObject({
      code: 'config_unusable',
    })
    expect((await readFile(home.config)).equals(latin1)).toBe(true)
    await home.write(text)
    await agent.ask('POST', AGENT_PATH.reload, {})
  })

  it('with a byte order mark keeps it', async () => {
    const text = await home.read()
    await home.write(`\ufeff${text}`)
    await agent.ask('POST', AGENT_PATH.reload, {})
    await agent.ask('POST', AGENT_PATH.changeTunnel, { name: 'web', settings: { description: 'x' } })
    expect(await home.read()).toBe(`\ufeff${text}description = "x"\n`)
    await home.write(text)
    await agent.ask('POST', AGENT_PATH.reload, {})
  })

  it('that is read-only is not replaced, also by root', async () => {
    const text = await home.read()
    await chmod(home.config, 0o444)
    const settings = { description: 'x' }
    await expect(agent.ask('POST', AGENT_PATH.changeTunnel, { name: 'web', settings })).rejects.toMatchObject(
      { code: 'config_unusable', message: `${home.config} is read-only` },
    )
    expect(await home.read()).toBe(text)
    await chmod(home.config, 0o644)
  })

  it('may not name a tunnel twice in letters of another case: they would share an identity', async () => {
    const settings = { name: 'WEB', http: 1 }
    await expect(agent.ask('POST', AGENT_PATH.addTunnel, { settings })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })
})

it('prints no command to the terminal, whatever stands in the log', async () => {
  const message = 'a\u001b[2J\u009b31m\u202eb\nsecond line'
  await appendFile(
    join(home.state, 'agent.log'),
    `${JSON.stringify({ time: 'now', event: 'error', code: 'internal', message })}\n{"cut off\u001b[2J\n`,
  )
  const lines: string[] = []
  const print = { log: (line: string) => void lines.push(line), error: () => {} }
  await showLogs(home.state, { lines: 2, json: false }, print)
  expect(lines).toEqual(['now  svc: a?[2J?31m?b\nsecond line', '{"cut off?[2J'])
  makeReporter(false, print)({ event: 'identity', address: '0x\u001bc', path: '/\u202e' })
  expect(lines.at(-1)).toBe('0x?c  /?')
})
