// Several targets behind one site: which of them answers, and the request that it gets.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expose, type Routes } from '../../src/index.ts'
import { routeHandler } from '../../src/target/routes.ts'
import { listening } from '../support/exposed.ts'

let server: Server
let port: number
let folder: string
beforeAll(async () => {
  server = createServer((asked, response) => void response.end(`server ${asked.url}`))
  port = await listening(server)
  folder = await mkdtemp(join(tmpdir(), 'svc-routes-'))
  await mkdir(join(folder, 'below'))
  await writeFile(join(folder, 'index.html'), 'index')
  await writeFile(join(folder, 'below', 'a.txt'), 'a')
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await rm(folder, { recursive: true })
})

const says = (text: string) => () => new Response(text)

async function ask(routes: Routes, url: string, init?: RequestInit): Promise<Response> {
  const handler = await routeHandler(routes, says('otherwise'), { onError: () => {} })
  return handler(new Request(new URL(url, 'https://demo.relay.example'), init), {} as never)
}

describe('the longest prefix wins', () => {
  const routes = { '/api': says('api'), '/': says('root'), '/api/v2/': says('v2'), '/a%20b': says('space') }

  it.each([
    ['/', 'root'],
    ['/other', 'root'],
    ['/api', 'api'],
    ['/api/', 'api'],
    ['/api/v1', 'api'],
    ['/api?/api/v2', 'api'],
    ['/api/v2', 'v2'],
    ['/api/v2/x', 'v2'],
    ['/api/v20', 'api'],
    ['/apis', 'root'],
    ['/API', 'root'],
    ['/x/../api/v2', 'v2'],
    ['/a b/c', 'space'],
  ])('%s', async (path, answer) => {
    expect(await (await ask(routes, path)).text()).toBe(answer)
  })
})

describe('a host', () => {
  const routes = {
    'demo.relay.example': says('demo'),
    'Other.Relay.example/api': says('other'),
    '/api/long': says('any'),
  }

  it.each([
    ['https://demo.relay.example/', 'demo'],
    ['https://demo.relay.example:8443/x', 'demo'],
    ['https://demo.relay.example/api/long', 'demo'],
    ['https://other.relay.example/api', 'other'],
    ['https://other.relay.example/api/long', 'other'],
    ['https://other.relay.example/', 'otherwise'],
    ['https://third.relay.example/api/long', 'any'],
  ])('%s', async (url, answer) => {
    expect(await (await ask(routes, url)).text()).toBe(answer)
  })
})

it('a server gets the whole path, below that of its own URL', async () => {
  expect(await (await ask({ '/api': port }, '/api/x?y')).text()).toBe('server /api/x?y')
  const based = { '/api': `http://127.0.0.1:${port}/base` }
  expect(await (await ask(based, '/api/x')).text()).toBe('server /base/api/x')
})

describe('a folder', () => {
  it('has its own paths behind the prefix, however it is given', async () => {
    for (const target of [folder, pathToFileURL(folder)]) {
      const routes = { '/docs/it:self': target }
      expect(await (await ask(routes, '/docs/it:self/')).text()).toBe('index')
      expect(await (await ask(routes, '/docs/it:self/below/a.txt')).text()).toBe('a')
      expect((await ask(routes, '/docs/it:self/docs/')).status).toBe(404)
    }
    expect(await (await ask({ '/': folder }, '/below/a.txt')).text()).toBe('a')
  })

  it('redirects to its slash by a reference that cannot be another site', async () => {
    const routes = { '/docs/it:self': folder }
    for (const [path, leadsTo] of [
      ['/docs/it:self?q', '/docs/it:self/?q'],
      ['/docs/it:self/below', '/docs/it:self/below/'],
    ] as const) {
      const response = await ask(routes, path)
      const { href } = new URL(response.headers.get('location')!, `https://demo.relay.example${path}`)
      expect([response.status, href]).toEqual([301, `https://demo.relay.example${leadsTo}`])
    }
  })

  it('is not left by the prefix', async () => {
    await writeFile(join(folder, '..', 'svc-routes-secret.txt'), 'secret')
    for (const path of [
      '/docs/%2e%2e/svc-routes-secret.txt',
      '/docs/..%2fsvc-routes-secret.txt',
      '/docs//etc/passwd',
    ])
      expect(await (await ask({ '/docs': folder }, path)).text()).not.toContain('secret')
    await rm(join(folder, '..', 'svc-routes-secret.txt'))
  })

  it('is not written to', async () => {
    expect((await ask({ '/docs': folder }, '/docs/', { method: 'POST', body: 'x' })).status).toBe(405)
  })
})

it.each<[string, Routes, string]>([
  ['no place', { '': 3000 }, 'route "" is not'],
  ['a place with a query', { '/a?b': 3000 }, 'route "/a?b" is not'],
  ['a place with a port', { 'a.example:80/b': 3000 }, 'route "a.example:80/b" is not'],
  ['a place that is a URL', { 'https://a.example': 3000 }, 'is not'],
  ['the same place twice', { '/api': 3000, '/api/': 3001 }, 'route "/api/" is there twice'],
  ['an invalid target', { '/api': 'nowhere' }, 'route "/api": "nowhere" is not'],
  [
    'a folder of another machine',
    { '/api': 'file://elsewhere/a' },
    'route "/api": file://elsewhere/a is not',
  ],
  ['a folder that is not there', { '/api': './nowhere' }, 'there is no folder ./nowhere'],
])('refuses %s', async (_, routes, message) => {
  await expect(expose({ relay: 'https://relay.example', name: 'a', routes })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
  })
})

it('refuses routes inside of TLS that does not end here', async () => {
  const options = { relay: 'https://relay.example', name: 'a', tls: 443, routes: { '/': 80 } }
  await expect(expose(options)).rejects.toMatchObject({ code: 'invalid_option' })
})
