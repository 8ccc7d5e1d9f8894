// Traffic rules by the real `svc`: those of svc.toml, and the flags.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const relay = useStarted(startTestRelay)

let target: Server
let port: number
let seen: IncomingMessage | undefined
beforeAll(async () => {
  target = createServer((asked, response) => {
    seen = asked
    response.setHeader('Server', 'target')
    response.end(asked.url)
  })
  port = await listening(target)
})
afterAll(() => {
  target.closeAllConnections()
  target.close()
})

let home: string
let name: string
let run: Run | undefined
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-rules-'))
  // A name stays that of the identity that had it.
  name = `ruled-${randomBytes(4).toString('hex')}`
})
afterEach(async () => {
  await run?.stop()
  await rm(home, { recursive: true })
})

async function startedWith(rules: string): Promise<Run> {
  const config = join(home, 'svc.toml')
  const head = [`relay = "${relay.origin}"`, `ca = "${relay.caFile}"`, '[[tunnel]]', `name = "${name}"`]
  await writeFile(config, [...head, `http = ${port}`, rules].join('\n'))
  run = runHere(home, ['start', '--config', config, '--json'])
  return run
}

it('svc start applies the rules of svc.toml', async () => {
  const { url } = await reported(
    await startedWith(`
      [tunnel.rules]
      maintenance = { path = "/closed/*", retry_after = 60 }
      rewrites = [{ path = "/api/*", to = "/*" }]
      request_headers = { set = { X-Env = "demo" } }
      request_body = { max_size = "1kB" }
      [[tunnel.rules.redirects]]
      path = "/old/*"
      to = "https://other.example/*"
      [[tunnel.rules.response_headers]]
      path = "/api/*"
      remove = ["Server"]
    `),
    'online',
  )
  const closed = await visit(relay, url!, '/closed/a')
  expect([closed.statusCode, closed.headers['retry-after']]).toEqual([503, '60'])
  const moved = await visit(relay, url!, '/old/a?b')
  expect([moved.statusCode, moved.headers.location]).toEqual([302, 'https://other.example/a?b'])
  const passed = await visit(relay, url!, '/api/v1')
  expect([await text(passed), passed.headers.server, seen!.headers['x-env']]).toEqual([
    '/v1',
    undefined,
    'demo',
  ])
  expect((await visit(relay, url!, '/')).headers.server).toBe('target')
  const body = 'x'.repeat(1001)
  expect((await visit(relay, url!, '/', { method: 'POST', body })).statusCode).toBe(413)
})

it('svc start says which rule is wrong', async () => {
  const { ended, out, err } = await startedWith('[tunnel.rules]\nrequest_body = {}')
  expect(await ended).toBe(2)
  expect([...out, ...err].join('\n')).toContain('svc.toml: tunnel 1: rules.request_body.max_size is missing')
})

const at = (): string[] => ['--name', name, '--relay', relay.origin, '--ca', relay.caFile, '--json']

it('svc expose has flags for fields and CORS', async () => {
  run = runHere(home, [
    ...['expose', String(port), ...at(), '--cors', 'https://a.example,https://b.example'],
    ...[
      '--header',
      'X-Frame-Options: DENY',
      '--header',
      'Cache-Control: no-store, private',
      '--header',
      'Server:',
    ],
    ...['--request-header', 'X-Env: a: b'],
  ])
  const { url } = await reported(run, 'online')
  const { headers } = await visit(relay, url!, '/', { headers: { Origin: 'https://b.example' } })
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'cache-control': 'no-store, private',
    'access-control-allow-origin': 'https://b.example',
    vary: 'Origin',
  })
  expect([headers.server, seen!.headers['x-env']]).toEqual([undefined, 'a: b'])
})

it('svc expose --maintenance shows a page to people', async () => {
  run = runHere(home, ['expose', String(port), ...at(), '--maintenance'])
  const { url } = await reported(run, 'online')
  const answer = await visit(relay, url!, '/', { headers: { Accept: 'text/html' } })
  expect([answer.statusCode, await text(answer)]).toEqual([
    503,
    expect.stringContaining('<p class="lines">This site is down for maintenance.</p>'),
  ])
})

it.each([
  [['--header', 'X-Frame-Options'], '--header "X-Frame-Options" is not "Name: value" or "Name:"'],
  [['--header', 'Connection: close'], 'Connection cannot be changed'],
  [['--cors', 'a.example'], 'has to be one of a list of origins such as "https://app.example", or "*"'],
])('svc expose refuses %j', async (flags, message) => {
  const { ended, out } = runHere(home, ['expose', String(port), ...at(), ...flags])
  expect(await ended).toBe(2)
  expect(JSON.parse(out.at(-1)!).message).toContain(message)
})

it('svc start answers by mocks alone, with the content of a file', async () => {
  await writeFile(join(home, 'users.json'), '[1]')
  const config = join(home, 'svc.toml')
  const head = [`relay = "${relay.origin}"`, `ca = "${relay.caFile}"`, '[[tunnel]]', `name = "${name}"`]
  const mocks = `
    [[tunnel.rules.mocks]]
    path = "/users"
    method = "GET"
    file = "users.json"
    headers = { X-My_Field = "a" }
    [[tunnel.rules.mocks]]
    path = "/users"
    status = 201
    json = { created_at = "now" }
  `
  await writeFile(config, [...head, mocks].join('\n'))
  run = runHere(home, ['start', '--config', config, '--json'])
  const { url } = await reported(run, 'online')
  const users = await visit(relay, url!, '/users')
  expect([users.statusCode, users.headers['content-type'], users.headers['x-my_field']]).toEqual([
    200,
    'application/json',
    'a',
  ])
  expect(await text(users)).toBe('[1]')
  const created = await visit(relay, url!, '/users', { method: 'POST', body: 'a' })
  expect([created.statusCode, await text(created)]).toEqual([201, '{"created_at":"now"}'])
  expect((await visit(relay, url!, '/')).statusCode).toBe(404)
})

it('svc start says which file of a mock is not there', async () => {
  const missing = await startedWith('rules = { mocks = [{ file = "no.json" }] }')
  expect(await missing.ended).toBe(2)
  expect(missing.out.join()).toMatch(/rules.mocks: file .*no\.json cannot be read/)
})
