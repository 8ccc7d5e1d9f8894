// Servers that were written without a thought of a tunnel, with their defaults, behind `expose`.

import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, it as every, expect } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { Exposure, SvcError } from '../../src/index.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay } from '../support/relay.ts'
import { TargetVisitor } from '../support/ways.ts'

const it = wholeOnly(every, 'variant')

const relay = useStarted(startTestRelay)

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

async function exposed(http: number | string): Promise<string> {
  const exposure: Exposure = await exposeAt(relay, { http })
  ends.push(() => exposure.close())
  return exposure.sites[0]!.url
}

async function served(
  listener?: RequestListener,
): Promise<[server: ReturnType<typeof createServer>, port: number]> {
  const server = createServer(listener)
  ends.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return [server, await listening(server)]
}

/** An application of WSGI, as the one that comes with Python serves it: `reply` has what it answers, by path. */
const WSGI = `
import sys
from ipaddress import ip_address
from wsgiref.simple_server import make_server
from wsgiref.util import application_uri, request_uri

def app(environ, start):
    path, own = environ['PATH_INFO'], application_uri(environ).rstrip('/')
    def reply(status, *fields):
        start(status, list(fields) + [('Content-Type', 'text/plain')])
        return [status.encode()]
    if path == '/address':
        [ip_address(one.strip()) for one in environ.get('HTTP_X_FORWARDED_FOR', '::1').split(',')]
        return reply('200 OK')
    if path == '/login':
        return reply('302 Found', ('Location', own + '/next?a=b'), ('Set-Cookie', 'a=1; Domain=localhost; Path=/'))
    if path == '/form':
        return reply('200 OK' if environ.get('HTTP_ORIGIN') == own else '403 Forbidden')
    return reply('404 Not Found')

server = make_server('127.0.0.1', 0, app)
print(server.server_port, flush=True)
server.serve_forever()
`

async function python(program: string): Promise<number> {
  const child: ChildProcess = spawn('python3', ['-c', program], { stdio: ['ignore', 'pipe', 'ignore'] })
  ends.push(() => {
    child.kill()
    return child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  })
  const [port] = await once(createInterface(child.stdout!), 'line')
  return Number(port)
}

it('wsgiref of Python: redirects lead to the site, forms are taken, and no word stands for an address', async () => {
  const url = await exposed(await python(WSGI))
  expect((await visit(relay, url, '/address')).statusCode).toBe(200)
  const { headers } = await visit(relay, url, '/login')
  expect(headers.location).toBe(`${new URL(url).origin}/next?a=b`)
  expect(headers['set-cookie']).toEqual(['a=1; Path=/'])
  const form = { method: 'POST', body: 'a=b', headers: { Origin: new URL(url).origin } }
  expect((await visit(relay, url, '/form', form)).statusCode).toBe(200)
  const foreign = { ...form, headers: { Origin: 'https://other.example' } }
  expect((await visit(relay, url, '/form', foreign)).statusCode).toBe(403)
})

it('a server that checks Twilio’s signature of the URL, which it makes of X-Forwarded-Proto and Host, takes it', async () => {
  const signature = (url: string): string =>
    createHmac('sha1', '12345').update(`${url}Bodyhi & byeFrom+15551234567`).digest('base64')
  const [, port] = await served((asked, response) => {
    const { headers, url } = asked
    const isSigned =
      headers['x-twilio-signature'] === signature(`${headers['x-forwarded-proto']}://${headers.host}${url}`)
    response.writeHead(isSigned ? 200 : 403).end()
  })
  const url = await exposed(port)
  const headers = { 'X-Twilio-Signature': signature(`${new URL(url).origin}/sms`) }
  expect(
    (await visit(relay, url, '/sms', { method: 'POST', headers, body: 'Body=hi+%26+bye' })).statusCode,
  ).toBe(200)
})

/** The rules by which servers tell a WebSocket of their own page from one of another. */
const RULES: Readonly<Record<string, (fields: IncomingHttpHeaders, own: string) => boolean>> = {
  'its Host (gorilla, coder)': ({ origin, host }) => new URL(origin!).host === host,
  'its Host and its own scheme (Spring)': ({ origin, host }) => origin === `http://${host}`,
  'its own address (Next, Phoenix)': ({ origin }, own) => origin === own,
}

it.each(Object.keys(RULES))('ws: a server that compares Origin with %s opens the socket', async (rule) => {
  const [server, port] = await served((_, response) => void response.end('page'))
  const verifyClient = ({ req }: { req: { headers: IncomingHttpHeaders } }): boolean =>
    RULES[rule]!(req.headers, `http://localhost:${port}`)
  new WebSocketServer({ server, verifyClient }).on('connection', (socket) => socket.send('welcome'))
  const { host, hostname, origin } = new URL(await exposed(port))
  const open = (from: string): WebSocket => {
    const options = { servername: hostname, ca: relay.ca, origin: from, headers: { Host: host } }
    return new WebSocket(`wss://127.0.0.1:${relay.port}/`, [], options)
  }
  const socket = open(origin)
  expect(String((await once(socket, 'message'))[0])).toBe('welcome')
  socket.close()
  const [refusal] = await once(open('https://other.example'), 'error')
  expect(refusal.message).toContain('401')
})

it('the development server of Vite serves a host that it does not know, and forms of its pages are its own', async () => {
  const { createServer: createVite } = await import('vite')
  const root = await mkdtemp(join(tmpdir(), 'vite-'))
  ends.push(() => rm(root, { recursive: true, force: true }))
  await writeFile(join(root, 'index.html'), '<title>Vite here</title>')
  const vite = await createVite({
    root,
    configFile: false,
    logLevel: 'silent',
    server: { port: 0, host: '127.0.0.1' },
  })
  await vite.listen()
  ends.push(() => vite.close())
  const failures: SvcError[] = []
  const { port } = vite.httpServer!.address() as { port: number }
  const visitor = new TargetVisitor('direct', `http://127.0.0.1:${port}`, {
    onError: (error) => failures.push(error),
  })
  await visitor.send('GET / HTTP/1.1\r\nHost: site.example\r\nAccept: text/html\r\n\r\n')
  expect(await visitor.receive('Vite here')).toMatch(/^HTTP\/1.1 200 /)
  expect(failures.map(({ code }) => code)).toEqual(['host_refused'])
})

it('a server that redirects to the address at which it listens leads to the site', async () => {
  const [, port] = await served((_, response) => {
    response.writeHead(301, {
      Location: `http://localhost:${port}/docs/`,
      Refresh: `0; url=http://127.0.0.1:${port}/docs/`,
    })
    response.end()
  })
  const url = await exposed(port)
  const { origin } = new URL(url)
  const { headers } = await visit(relay, url, '/docs')
  expect([headers.location, headers.refresh]).toEqual([`${origin}/docs/`, `0; url=${origin}/docs/`])
  await text(await visit(relay, url, '/docs'))
})
