// The agent lists who waits to be let in, to its owner alone, and takes answers.

import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AGENT_PATH, type AgentStatus } from '../../src/agent/api-messages.ts'
import { type AgentHome, ANY_PORT, makeHome, type RunningAgent, startAgent } from '../support/agent.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

let relay: TestRelay
let target: Server
let home: AgentHome
let agent: RunningAgent
beforeAll(async () => {
  relay = await startTestRelay()
  target = createServer((_, response) => response.end('hello'))
  const port = await listening(target)
  const tunnel = `[[tunnel]]\nname = "asks"\nhttp = ${port}\n[tunnel.access]\nknock = true\n`
  home = await makeHome(`relay = "${relay.origin}"\nca = "${relay.caFile}"\n\n${ANY_PORT}${tunnel}`)
  agent = await startAgent(home)
})
afterAll(async () => {
  await agent.stop()
  await home.remove()
  target.closeAllConnections()
  target.close()
  await relay.close()
})

const status = () => agent.ask<AgentStatus>('GET', AGENT_PATH.status)
const answer = (body: object) => agent.ask('POST', AGENT_PATH.answerKnock, body)

it('shows who waits, and lets in', async () => {
  await expect
    .poll(async () => (await status()).tunnels[0]?.relays[0]?.url, { timeout: 20_000 })
    .toEqual(expect.any(String))
  const url = (await status()).tunnels[0]!.relays[0]!.url!
  const held = visit(relay, url, '/page', { headers: { prefer: 'wait=60', 'user-agent': 'curl/8.5.0' } })
  await expect.poll(async () => (await status()).knocks.length, { timeout: 20_000 }).toBe(1)
  const [knock] = (await status()).knocks
  expect(knock).toEqual({
    tunnel: 'asks',
    code: expect.stringMatching(/^\d{4}$/),
    address: '127.0.0.1',
    browser: 'curl/8.5.0',
    path: '/page',
    since: expect.any(String),
  })
  await expect(answer({ code: 'none', admit: true, always: false })).rejects.toMatchObject({
    code: 'knock_not_found',
  })
  await expect(answer({ code: knock!.code, admit: 'yes', always: false })).rejects.toMatchObject({
    code: 'invalid_request',
  })
  await answer({ code: knock!.code, admit: true, always: false })
  expect(await text(await held)).toBe('hello')
  expect((await status()).knocks).toEqual([])
})
