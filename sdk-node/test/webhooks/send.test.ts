// `svc webhook send`, to a server of this machine, and through the relay to the site that runs here.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { listening } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const relay = useStarted(startTestRelay)

let server: Server
let port: number
let seen: { asked: IncomingMessage; body: string } | undefined
beforeAll(async () => {
  server = createServer(async (asked, response) => {
    seen = { asked, body: Buffer.concat(await asked.toArray()).toString() }
    response.writeHead(asked.url === '/no' ? 404 : 204).end()
  })
  port = await listening(server)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

let home: string
let runs: Run[] = []
beforeEach(async () => {
  seen = undefined
  home = await mkdtemp(join(tmpdir(), 'svc-send-'))
})
afterEach(async () => {
  for (const run of runs) await run.stop()
  runs = []
  await rm(home, { recursive: true })
})

function svc(...args: string[]): Run {
  const run = runHere(home, args)
  runs.push(run)
  return run
}

it('sends a signed payload to a server of this machine, and prints the answer', async () => {
  const run = svc(
    'webhook',
    'send',
    'github',
    'issues',
    '--to',
    `http://127.0.0.1:${port}/hook`,
    '--secret',
    'hush',
  )
  expect(await run.ended).toBe(0)
  expect(run.out.join()).toMatch(/^204 +\d+ ms {2}github issues {2}http:\/\/127.0.0.1/)
  expect(seen?.asked.headers).toMatchObject({
    'x-github-event': 'issues',
    'x-hub-signature-256': expect.stringMatching(/^sha256=[\da-f]{64}$/),
  })
  expect(JSON.parse(seen!.body)).toMatchObject({ action: 'opened', issue: { number: 8 } })
})

it('ends with 1 when the answer is an error', async () => {
  const run = svc(
    'webhook',
    'send',
    'stripe',
    '--to',
    `http://127.0.0.1:${port}/no`,
    '--secret',
    'hush',
    '--json',
  )
  expect(await run.ended).toBe(1)
  expect(JSON.parse(run.out[0]!)).toMatchObject({
    event: 'sent',
    name: 'payment_intent.succeeded',
    status: 404,
  })
})

it('sends through the relay to the site that runs here, which finds the signature valid', async () => {
  const site = svc(
    ...['expose', String(port), '--relay', relay.origin, '--ca', relay.caFile, '--json'],
    ...['--webhook', 'twilio=hush'],
  )
  await reported(site, 'online')
  const to = ['--to', '/hook?a=b', '--ca', relay.caFile, '--secret', 'hush']
  expect(await svc('webhook', 'send', 'twilio', ...to).ended).toBe(0)
  expect(seen?.asked.url).toBe('/hook?a=b')
  await vi.waitFor(async () =>
    expect(await reported(site, 'request')).toMatchObject({ webhook: { sender: 'twilio', result: 'valid' } }),
  )
}, 60_000)

it('lists what it can send', async () => {
  const run = svc('webhook', 'list')
  expect(await run.ended).toBe(0)
  expect(run.out).toContain('github push')
})

it.each([
  [['githup'], 'there is no webhook githup; known are github, stripe'],
  [['github', 'pull'], 'there is no webhook pull; known are push, ping'],
  [['hmac'], 'hmac needs --webhook-hmac'],
])('refuses %o, and does not print the secret', async (args, message) => {
  const run = svc('webhook', 'send', ...args, '--to', 'http://localhost:1', '--secret', 'hush')
  expect(await run.ended).toBe(2)
  expect(run.err.join()).toContain(message)
  expect(run.err.join()).not.toContain('hush')
})

it('a path needs a site that runs here', async () => {
  const run = svc('webhook', 'send', 'github', '--to', '/hook', '--secret', 'hush')
  expect(await run.ended).toBe(2)
  expect(run.err.join()).toContain('needs a running svc')
})
