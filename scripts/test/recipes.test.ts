// The recipes of docs/guide/recipes.md, run as they stand there: each block of code in a shell or by its client, at a real relay.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort, startTestRelay, type TestRelay } from '../../sdk-node/test/support/relay.ts'
import { programFile } from '../../tools/bundler/programs.ts'
import { root } from '../../tools/programs/command.ts'
import { curl } from '../../tools/programs/curl.ts'

const TIMEOUT_MS = 60_000
const PAGE = readFileSync(path.join(root, 'docs/guide/recipes.md'), 'utf8')
const SECRET = 'a secret of a test'
const TOKEN = 'a-token-of-a-tool-server'

interface Block {
  section: string
  language: string
  text: string
}

const blocks: Block[] = PAGE.split(/^## /m).flatMap((part) => {
  const section = part.slice(0, part.indexOf('\n'))
  const found = part.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)
  return [...found].map(([, language = '', text = '']) => ({ section, language, text }))
})
const tried = new Set<Block>()
const home = mkdtempSync(path.join(tmpdir(), 'svc-recipes-'))
let relay: TestRelay

beforeAll(async () => {
  for (const folder of ['bin', 'photos', 'dist']) mkdirSync(path.join(home, folder))
  writeProgram('svc')
  writeProgram('svc-relay')
  writeFileSync(path.join(home, 'photos/cat.jpg'), 'a cat')
  writeFileSync(path.join(home, 'dist/index.html'), '<h1>a preview</h1>')
  for (const name of ['password.txt', 'alice.txt']) writeFileSync(path.join(home, name), SECRET)
  const port = await freePort()
  relay = await startTestRelay({ TCP_ENABLED: 'true', MIN_PORT: `${port}`, MAX_PORT: `${port}` })
}, TIMEOUT_MS)

afterAll(async () => {
  await relay?.close()
  rmSync(home, { recursive: true })
})

describe('recipes', { timeout: TIMEOUT_MS }, () => {
  test('webhooks on your machine', async () => {
    const server = await startServer(() => 'taken')
    const site = run(take('Webhooks', 'sh'), { 3000: server.port })
    await site.shows('hooks.')
    const sample = run(take('Webhooks', 'sh', 1))
    expect(await sample.ended).toBe(0)
    expect(server.requests[0]?.url).toBe('/hook')
    await site.shows('github: valid')
  })

  test('a development server that refuses other hosts', async () => {
    const server = await startServer(({ headers }) => (headers.host?.startsWith('localhost') ? 'app' : 403))
    const site = run(take('A development server', 'sh'), { 5173: server.port })
    await site.shows('app.')
    expect(await statusOf('app', '/')).toBe('401')
    await vi.waitUntil(async () => (await statusOf('app', '/', '--user', `alice:${SECRET}`)) === '200')
  })

  test('files for somebody', async () => {
    const site = run(take('Files for somebody', 'sh'))
    await site.shows('photos.')
    expect(await statusOf('photos', '/cat.jpg')).toBe('401')
    expect(await bodyOf('photos', '/cat.jpg', '--user', `any:${SECRET}`)).toBe('a cat')
    const share = run(take('Files for somebody', 'sh', 1))
    expect(await share.ended).toBe(0)
    await share.shows('#svc-share=')
  })

  test('a tool server', async () => {
    const server = await startServer(() => '{"jsonrpc":"2.0","id":1,"result":{}}')
    const site = run(take('A tool server', 'sh'), { 3001: server.port })
    await site.shows('tools.')
    const { mcpServers } = JSON.parse(take('A tool server', 'json'))
    const { url, headers } = mcpServers.tools
    const authorization = headers.Authorization.replace(/\$\{TOOLS_TOKEN\}/, TOKEN)
    const initialize = ['--data', '{"jsonrpc":"2.0","id":1,"method":"initialize"}']
    const { pathname } = new URL(url)
    expect(await statusOf('tools', pathname, ...initialize)).toBe('401')
    const header = ['--header', `Authorization: ${authorization}`]
    expect(JSON.parse(await bodyOf('tools', pathname, ...header, ...initialize)).result).toEqual({})
    expect(server.requests.map((request) => request.url)).toEqual(['/mcp'])
  })

  test('a game server', async () => {
    const game = createTcpServer((socket) => void socket.pipe(socket)).listen(0, '127.0.0.1')
    onTestFinished(() => void game.close())
    await once(game, 'listening')
    const { port } = game.address() as AddressInfo
    const site = run(`${take('A game server', 'sh').trim()} --json`, { 25565: port })
    await site.shows('"tcp_address":"')
    const address = /"tcp_address":"[^"]*:(\d+)"/.exec(site.output())?.[1]
    const player = connect(Number(address), '127.0.0.1')
    onTestFinished(() => void player.destroy())
    player.write('a move of a player\n')
    expect(String((await once(player, 'data'))[0])).toBe('a move of a player\n')
  })

  test('a server at home', async () => {
    const server = await startServer(() => 'lights')
    writeFileSync(
      path.join(home, 'svc.toml'),
      atRelay(take('A server at home', 'toml'), { 8123: server.port }),
    )
    const site = run(take('A server at home', 'sh'))
    await site.shows('home.')
    expect(await statusOf('home', '/')).toBe('401')
    expect(await bodyOf('home', '/', '--user', `alice:${SECRET}`)).toBe('lights')
    const service = run('svc agent install --print')
    expect(await service.ended).toBe(0)
  })

  test('a class', async () => {
    const other = await startTestRelay({ REGISTRATION: 'token' })
    onTestFinished(() => other.close())
    const env = { SVC_URL: other.origin, NODE_EXTRA_CA_CERTS: other.caFile }
    const operator = {
      ...env,
      ADMIN_TOKEN: 'a-long-random-value',
      IDENTITY_PATH: path.dirname(other.caFile),
      SNI_PORT: `${other.port}`,
    }
    const made = run(take('A class', 'sh'), {}, operator)
    expect([await made.ended, made.output()]).toEqual([0, expect.stringMatching(/\S{16}/)])
    const server = await startServer(() => 'hello')
    const token = /^\S{16,}$/m.exec(made.output())?.[0] ?? ''
    const student = run(take('A class', 'sh', 1), { 3000: server.port }, { ...env, TOKEN: token })
    await student.shows('anna.')
    const id = /\b[0-9a-f]{12}\b/.exec(made.output())?.[0] ?? ''
    expect(await run(`svc-relay token remove ${id}`, {}, operator).ended).toBe(0)
    await student.shows('invitation')
  })

  test('a preview from CI', async () => {
    const job = run(`${take('A preview from CI', 'sh')}wait`, {}, { NUMBER: '7' })
    await job.shows('https://pr-7.')
    expect(await bodyOf('pr-7', '/')).toContain('a preview')
  })

  test('no block of the page is without a test', () => {
    expect(blocks.length).toBeGreaterThan(10)
    expect(blocks.filter((block) => !tried.has(block))).toEqual([])
  })
})

/** @param index of the section's blocks in this language */
function take(section: string, language: string, index = 0): string {
  const found = blocks.filter((block) => block.section.startsWith(section) && block.language === language)[
    index
  ]
  if (found === undefined) throw new Error(`There is no such block: ${section}, ${language}, ${index}`)
  tried.add(found)
  return found.text
}

type Ports = Record<number, number>

/** The text with the relay of the test, and the ports of its servers. */
function atRelay(text: string, ports: Ports): string {
  const there = text.replaceAll('relay.example', `relay.localhost:${relay.port}`)
  return there.replace(/\b\d{4,5}\b/g, (port) => String(ports[Number(port)] ?? port))
}

interface Run {
  output(): string
  /** Waits until the output has the text. */
  shows(text: string): Promise<void>
  ended: Promise<number | null>
}

/** Runs a block in a shell, and ends it with the test. */
function run(text: string, ports: Ports = {}, more: Record<string, string> = {}): Run {
  const env = {
    HOME: home,
    PATH: `${path.join(home, 'bin')}:${process.env.PATH}`,
    SVC_URL: relay.origin,
    NODE_EXTRA_CA_CERTS: relay.caFile,
    GITHUB_SECRET: SECRET,
    ALICE_PASSWORD: SECRET,
    TOOLS_TOKEN: TOKEN,
    ...more,
  }
  const child = spawn('bash', ['-c', atRelay(text, ports)], { cwd: home, env, detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const ended = once(child, 'close').then(() => child.exitCode)
  onTestFinished(() => end(child, ended))
  const shows = (wanted: string): Promise<void> =>
    vi.waitFor(() => expect(output).toContain(wanted), { timeout: TIMEOUT_MS, interval: 50 })
  return { output: () => output, shows, ended }
}

/** Ends the whole group of processes. */
async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await ended
}

interface Server {
  port: number
  requests: IncomingMessage[]
}

/** @param answer the body, or a status without one */
async function startServer(answer: (request: IncomingMessage) => string | number): Promise<Server> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/' || request.method !== 'HEAD') requests.push(request)
    const given = answer(request)
    response.statusCode = typeof given === 'number' ? given : 200
    request.resume().on('end', () => response.end(String(given)))
  }).listen(0, 'localhost')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, requests }
}

async function bodyOf(name: string, where: string, ...args: string[]): Promise<string> {
  return String(await curl(relay.caFile, ...args, `https://${name}.relay.localhost:${relay.port}${where}`))
}

function statusOf(name: string, where: string, ...args: string[]): Promise<string> {
  return bodyOf(name, where, '--output', '/dev/null', '--write-out', '%{http_code}', ...args)
}

function writeProgram(name: 'svc' | 'svc-relay'): void {
  const text = `#!/bin/sh\nexec "${process.execPath}" "${programFile(name)}" "$@"\n`
  writeFileSync(path.join(home, 'bin', name), text, { mode: 0o755 })
}
