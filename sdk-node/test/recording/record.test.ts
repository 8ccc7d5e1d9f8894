// `svc record` and `svc replay`, with a real server behind a real relay.

import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const relay = useStarted(startTestRelay)
const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff])

let server: Server
let port: number
let count = 0
beforeAll(async () => {
  server = createServer(async (asked, response) => {
    const body = Buffer.concat(await asked.toArray()).toString()
    count += 1
    if (asked.url === '/picture') return void response.setHeader('Content-Type', 'image/png').end(PICTURE)
    const answer = `${asked.method} ${asked.url} ${body} ${count}`
    response.writeHead(asked.url === '/new' ? 201 : 200, {
      'Content-Type': 'text/plain',
      'Content-Encoding': 'gzip',
    })
    response.end(gzipSync(answer))
  })
  port = await listening(server)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

let home: string
let file: string
let runs: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-record-'))
  file = join(home, 'session.har')
  count = 0
})
afterEach(async () => {
  for (const run of runs) await run.stop()
  runs = []
  await rm(home, { recursive: true })
})

async function online(...args: string[]): Promise<{ run: Run; url: string }> {
  const run = runHere(home, [...args, '--relay', relay.origin, '--ca', relay.caFile, '--json'])
  runs.push(run)
  return { run, url: (await reported(run, 'online')).url! }
}

async function archive(entries: number): Promise<{ log: { entries: object[] } }> {
  return await vi.waitFor(async () => {
    const har = JSON.parse(await readFile(file, 'utf8'))
    expect(har.log.entries).toHaveLength(entries)
    return har
  }, 30_000)
}

it('what is recorded is answered again without the server', async () => {
  const { run, url } = await online('record', String(port), file)
  expect((await archive(0)).log.entries).toEqual([])
  const ask = async (site: string) => {
    const found: unknown[] = []
    for (const [path, method, body] of [
      ['/a?b=c', 'GET'],
      ['/a?b=c', 'GET'],
      ['/new', 'POST', 'hello'],
    ] as const) {
      const answer = await visit(relay, site, path, { method, ...(body && { body }) })
      const content = Buffer.concat(await answer.toArray())
      found.push([answer.statusCode, answer.headers['content-type'], content.toString()])
    }
    const picture = await visit(relay, site, '/picture')
    found.push([picture.headers['content-type'], Buffer.concat(await picture.toArray())])
    return found
  }
  const plain = (answers: unknown[]) => JSON.stringify(answers)
  await ask(url)
  const har = await archive(4)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  run.interrupt()
  expect(await run.ended).toBe(0)
  expect(har.log.entries).toHaveLength(4)
  const { url: again } = await online('replay', file)
  const asked = count
  expect(plain(await ask(again))).toBe(
    plain([
      [200, 'text/plain', 'GET /a?b=c  1'],
      [200, 'text/plain', 'GET /a?b=c  2'],
      [201, 'text/plain', 'POST /new hello 3'],
      ['image/png', PICTURE],
    ]),
  )
  expect(count).toBe(asked)
  expect((await visit(relay, again, '/other')).statusCode).toBe(404)
}, 60_000)

it('a recording is never written over, and a site that cannot start leaves none', async () => {
  const args = ['--relay', relay.origin, '--ca', relay.caFile]
  await online('record', String(port), file)
  const second = runHere(home, ['record', String(port), file, ...args])
  expect(await second.ended).toBe(2)
  expect(second.err.join()).toContain('is there already')
  const other = join(home, 'other.har')
  const failed = runHere(home, ['record', String(port), other, '--relay', 'https://127.0.0.1:1'])
  expect(await failed.ended).toBe(3)
  await expect(stat(other)).rejects.toThrow('ENOENT')
})

it('svc replay says what is wrong with a file', async () => {
  const run = runHere(home, ['replay', join(home, 'no.har'), '--relay', relay.origin, '--ca', relay.caFile])
  expect(await run.ended).toBe(2)
  expect(run.err.join()).toMatch(/no\.har cannot be read/)
})

it('expose records what a handler answers', async () => {
  const exposure = await exposeAt(relay, { fetch: () => new Response('hello'), record: file })
  expect(await text(await visit(relay, exposure.sites[0]!.url))).toBe('hello')
  await exposure.close()
  expect(await archive(1)).toMatchObject({ log: { entries: [{ response: { content: { text: 'hello' } } }] } })
  await expect(exposeAt(relay, { tcp: port, record: file })).rejects.toThrow(/record needs http/)
})
