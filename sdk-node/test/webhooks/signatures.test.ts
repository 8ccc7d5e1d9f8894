// Signatures of webhooks by the real `svc` and `expose`, at a real relay, in front of a real target.

import { createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Inspection, Inspector } from '@svc/sdk-core/inspector'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { InspectorSwitch } from '../../src/inspector/inspector-switch.ts'
import type { RequestReport } from '../../src/target/request-reports.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const relay = useStarted(startTestRelay)
const SECRET = "It's a Secret to Everybody"
/** docs.github.com, "Validating webhook deliveries". */
const SIGNED = {
  'X-GitHub-Event': 'ping',
  'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
}
const BODY = 'Hello, World!'

let target: Server
let port: number
beforeAll(async () => {
  target = createServer(async (asked, response) => {
    if (asked.url === '/at-once') return void response.end('done')
    response.end(Buffer.concat(await asked.toArray()))
  })
  port = await listening(target)
})
afterAll(() => {
  target.closeAllConnections()
  target.close()
})

let home: string
let ends: (() => unknown)[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-webhooks-'))
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
  await rm(home, { recursive: true })
})

function post(url: string, body: string | Buffer, headers: object = SIGNED, path = '/hook') {
  return visit(relay, url, path, { method: 'POST', headers: { ...headers }, body })
}

async function requestsOf(run: Run, count: number): Promise<Record<string, unknown>[]> {
  return await vi.waitFor(() => {
    const reports = run.out.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
    expect(reports).toHaveLength(count)
    return reports
  }, 30_000)
}

it('svc start shows them, and the target gets every body as it came', async () => {
  const config = join(home, 'svc.toml')
  await writeFile(join(home, 'github.txt'), `${SECRET}\n`)
  await writeFile(
    config,
    `relay = "${relay.origin}"
    ca = "${relay.caFile}"
    [[tunnel]]
    name = "hooks-${randomBytes(4).toString('hex')}"
    http = ${port}
    webhooks = { github = "file:github.txt", hmac = ["env:OLD", "env:OWN"] }
    webhook_hmac = "X-Signature sha1 base64 sha1="`,
  )
  const run = runHere(home, ['start', '--config', config, '--json'])
  ends.push(() => run.stop())
  process.env.OLD = 'old'
  process.env.OWN = 'own'
  const { url } = await reported(run, 'online')
  expect(await text(await post(url!, BODY))).toBe(BODY)
  expect(await text(await post(url!, 'other'))).toBe('other')
  const own = createHmac('sha1', 'own').update(BODY).digest('base64')
  expect(await text(await post(url!, BODY, { 'X-Signature': `sha1=${own}` }))).toBe(BODY)
  expect(await text(await post(url!, BODY, {}))).toBe(BODY)
  // Each is told when its answer is out, in any order.
  const told = (await requestsOf(run, 4)).map(({ path, webhook }) => ({ path, webhook }))
  const path = '/hook'
  const reason = expect.stringContaining('earlier request')
  for (const webhook of [
    expect.objectContaining({ sender: 'github', result: 'valid' }),
    expect.objectContaining({ sender: 'github', result: 'invalid', reason }),
    expect.objectContaining({ sender: 'hmac', result: 'valid' }),
    undefined,
  ])
    expect(told).toContainEqual({ path, webhook })
  expect(run.out.join()).not.toContain(SECRET)
})

it.each([
  [['--webhook', SECRET], 'has to be SENDER=SECRET'],
  [['--webhook', `hmac=${SECRET}`], 'belong together'],
  [['--webhook-hmac', 'X-Signature'], 'belong together'],
  [['--webhook', `githup=${SECRET}`], '--webhook.githup is not known'],
])('svc refuses %o, and does not print the secret', async (flags, message) => {
  const run = runHere(home, ['expose', String(port), '--relay', relay.origin, '--ca', relay.caFile, ...flags])
  expect(await run.ended).toBe(2)
  expect(run.err.join()).toContain(message)
  expect(run.err.join()).not.toContain(SECRET)
})

it('expose reports them of a handler, too, which reads the body in its own time', async () => {
  const reports: RequestReport[] = []
  const exposure = await exposeAt(relay, {
    fetch: async (request) => new Response(await request.text()),
    webhooks: { github: SECRET },
    onRequest: (report) => void reports.push(report),
  })
  ends.push(() => exposure.close())
  expect(await text(await post(exposure.sites[0]!.url, BODY))).toBe(BODY)
  await vi.waitFor(() => expect(reports).toHaveLength(1), 30_000)
  expect(reports[0]).toMatchObject({ status: 200, webhook: { result: 'valid' } })
})

it('a body that is larger than any webhook passes whole, and is not checked', async () => {
  const reports: RequestReport[] = []
  const exposure = await exposeAt(relay, {
    http: port,
    webhooks: { github: SECRET },
    onRequest: (report) => void reports.push(report),
  })
  ends.push(() => exposure.close())
  const large = Buffer.alloc(26 * 1024 * 1024, 'a')
  const answer = await post(exposure.sites[0]!.url, large)
  expect(Buffer.concat(await answer.toArray()).equals(large)).toBe(true)
  await vi.waitFor(() => expect(reports).toHaveLength(1), 30_000)
  expect(reports[0]).toMatchObject({ webhook: { result: 'unchecked', code: 'too_large' } })
})

it('a target that reads no body is answered for, and the report says so', async () => {
  const reports: RequestReport[] = []
  const exposure = await exposeAt(relay, {
    fetch: () => new Response('done'),
    webhooks: { github: SECRET },
    onRequest: (report) => void reports.push(report),
  })
  ends.push(() => exposure.close())
  expect(await text(await post(exposure.sites[0]!.url, BODY))).toBe('done')
  await vi.waitFor(() => expect(reports).toHaveLength(1), 30_000)
  expect(reports[0]).toMatchObject({ webhook: { result: 'unchecked', code: 'unread' } })
})

it('an inspector shows it, also one that records later', async () => {
  const inspector = new InspectorSwitch()
  const recorder = new Inspector()
  const exposure = await exposeAt(relay, { http: port, webhooks: { github: SECRET }, inspector })
  ends.push(() => exposure.close())
  inspector.use(recorder)
  expect(await text(await post(exposure.sites[0]!.url, BODY))).toBe(BODY)
  const { webhook } = await new Inspection(recorder).entry(recorder.entries[0]!.id, false)
  expect(webhook).toMatchObject({ sender: 'github', result: 'valid' })
})

it('expose needs something that speaks HTTP', async () => {
  await expect(exposeAt(relay, { tcp: port, webhooks: { github: SECRET } })).rejects.toThrow(
    /webhooks need http/,
  )
})
