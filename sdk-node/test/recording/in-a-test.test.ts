// A recording of `svc record` in a test of an application, by what docs/guide/webhooks.md says.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replayHar } from '@svc/sdk-node/handlers'
import { afterEach, expect, test, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { reported, runHere } from '../support/svc.ts'

const relay = useStarted(startTestRelay)

let ends: (() => unknown)[] = []
afterEach(async () => {
  vi.unstubAllGlobals()
  for (const end of ends.reverse()) await end()
  ends = []
})

/** Records a session with a server of orders, which is gone afterwards. Resolves with the file. */
async function recorded(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'svc-in-a-test-'))
  ends.push(() => rm(home, { recursive: true }))
  const orders: string[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') orders.push(Buffer.concat(await request.toArray()).toString())
    response.setHeader('Content-Type', 'application/json').setHeader('Set-Cookie', 'session=secret')
    response.writeHead(request.method === 'POST' ? 201 : 200).end(JSON.stringify({ orders }))
  })
  const port = await listening(server)
  const file = join(home, 'session.har')
  const to = ['--relay', relay.origin, '--ca', relay.caFile]
  const run = runHere(home, ['record', String(port), file, ...to, '--json'])
  ends.push(() => run.stop())
  const { url } = await reported(run, 'online')
  await text(await visit(relay, url!, '/orders?token=one'))
  await text(await visit(relay, url!, '/orders', { method: 'POST', body: 'tea' }))
  await text(await visit(relay, url!, '/orders?token=one'))
  run.interrupt()
  expect(await run.ended).toBe(0)
  server.closeAllConnections()
  server.close()
  return file
}

/** The application under test. */
async function orderTea(origin: string): Promise<{ before: number; status: number; after: number }> {
  const count = async (): Promise<number> => {
    const answer = await fetch(`${origin}/orders?token=two`)
    const { orders } = (await answer.json()) as { orders: string[] }
    return orders.length
  }
  const before = await count()
  const { status } = await fetch(`${origin}/orders`, { method: 'POST', body: 'tea' })
  return { before, status, after: await count() }
}

test('the recording stands for the server, at any origin and as often as it is read', async () => {
  const har = await readFile(await recorded(), 'utf8')
  expect(har).not.toContain('secret')
  for (const origin of ['http://localhost:3000', 'https://shop.example']) {
    const answer = replayHar(har)
    vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => answer(new Request(url, init)))
    expect(await orderTea(origin)).toEqual({ before: 0, status: 201, after: 1 })
    const unknown = await fetch(`${origin}/others`)
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('no answer')])
  }
})
