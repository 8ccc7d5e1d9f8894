// `npm start`: what it may open, what it prints, and the page by plain HTTP that comes before the relay's own.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createCa } from '../../relay/src/core/certificates/development-ca.ts'
import { announcement } from '../start/announcement.ts'
import { hasDesktop, readArguments } from '../start/arguments.ts'
import { serveStartPage } from '../start/start-page.ts'
import { trustCommand } from '../start/trust-hint.ts'

const scripts = path.resolve(import.meta.dirname, '..')
const ca = createCa('relay.localhost').certificate

describe('a browser is opened', () => {
  const screen = { DISPLAY: ':0' }
  test.each<[NodeJS.ProcessEnv, NodeJS.Platform, boolean, boolean]>([
    [screen, 'linux', true, true],
    [{ WAYLAND_DISPLAY: 'wayland-0' }, 'linux', true, true],
    [{}, 'darwin', true, true],
    [{}, 'win32', true, true],
    [{}, 'linux', true, false],
    [screen, 'linux', false, false],
    [{ ...screen, CI: 'true' }, 'linux', true, false],
    [{ SSH_CONNECTION: 'a' }, 'darwin', true, false],
  ])('%j on %s, at a terminal: %s: %s', (env, platform, isTerminal, expected) => {
    expect(hasDesktop(env, platform, isTerminal)).toBe(expected)
  })

  test('never with --no-open', () => {
    expect(readArguments(['--no-open'])).toEqual({ opens: false, lan: false, address: undefined })
    expect(readArguments(['--open'])).toBeUndefined()
  })
})

test.each([
  ['start.ts', '--help', 0, '--no-open'],
  ['demo.ts', '--fast', 2, '--headless'],
] as const)('%s %s says what it takes', (script, argument, code, taken) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(scripts, script), argument], {
    encoding: 'utf8',
  })
  expect(status).toBe(code)
  expect(stdout + stderr).toContain(taken)
})

test('the demo names a browser that is not there', () => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(scripts, 'demo.ts'), '--headless'], {
    encoding: 'utf8',
    env: { ...process.env, CHROMIUM_PATH: '/nowhere/chromium' },
  })
  expect(status).toBe(1)
  expect(stderr).toBe('npm run demo: there is no browser at /nowhere/chromium, which CHROMIUM_PATH names\n')
})

test('it prints the first page first, and one command for the browsers of the system', () => {
  const caFile = path.resolve('.svc/ca.pem')
  const url = 'https://relay.localhost:4433'
  const text = announcement({
    url,
    begin: 'http://localhost:4434/',
    site: 'https://hello.relay.localhost:4433',
    ca: { file: caFile, pem: ca },
  })
  expect(text).toMatch(/^ {2}Begin here {12}http:\/\/localhost:4434\/$/m)
  expect(text).toContain(trustCommand('relay.localhost', caFile))
  const without = announcement({ url, begin: `${url}/`, site: 'https://hello.example', ca: undefined })
  expect(without).not.toContain('authority')
})

describe('the first page', () => {
  const open = async (port = 0, lan?: string): Promise<URL> => {
    const pages = mkdtempSync(path.join(tmpdir(), 'svc-start-page-'))
    writeFileSync(path.join(pages, 'start.html'), 'the page')
    writeFileSync(path.join(pages, 'index.html'), 'not of it')
    const page = await serveStartPage({
      relay: new URL('https://relay.localhost:4433'),
      secure: 'https://hello.relay.localhost:4433/trust',
      ca,
      file: '/home/me/ca.pem',
      pages,
      port,
      lan,
    })
    onTestFinished(() => {
      page.close()
      rmSync(pages, { recursive: true })
    })
    return new URL(page.url)
  }
  const ask = async (
    url: URL,
    path: string,
    host = url.host,
    to = '127.0.0.1',
  ): Promise<[number | undefined, string]> => {
    const sent = request({ host: to, port: url.port, path, headers: { Host: host } }).end()
    const [response] = await once(sent, 'response')
    let body = ''
    for await (const chunk of response) body += chunk
    return [response.statusCode, body]
  }

  test('is at the root, with the CA beside it, and nothing else of the relay’s pages', async () => {
    const url = await open()
    expect(await ask(url, '/')).toEqual([200, 'the page'])
    expect(await ask(url, '/ca.pem')).toEqual([200, ca])
    for (const path of ['/index.html', '/admin', '/..%2fca-key.pem', '/start.html/../index.html'])
      expect((await ask(url, path))[0]).toBe(404)
  })

  test('says what to try, and where the file is', async () => {
    const url = await open()
    expect(JSON.parse((await ask(url, '/start.json'))[1])).toEqual({
      relay: 'https://relay.localhost:4433/',
      secure: 'https://hello.relay.localhost:4433/trust',
      plain: `http://relay.localhost:${url.port}/start.json`,
      file: '/home/me/ca.pem',
    })
  })

  // Other systems have one address of loopback alone.
  test.runIf(process.platform === 'linux')(
    'tells no device of the network where the file is, whatever host it names',
    async () => {
      const lan = '127.0.0.2'
      const url = await open(0, lan)
      for (const host of [`${lan}:${url.port}`, url.host, `127.0.0.1:${url.port}`]) {
        const [status, body] = await ask(url, '/start.json', host, lan)
        expect([status, body.includes('/home/me')]).toEqual([200, false])
      }
    },
  )

  test('answers only at names of this machine, and of the relay', async () => {
    const url = await open()
    for (const name of ['localhost', '127.0.0.1', 'relay.localhost'])
      expect((await ask(url, '/', `${name}:${url.port}`))[0]).toBe(200)
    for (const host of ['evil.example', `evil.example:${url.port}`, 'localhost'])
      expect((await ask(url, '/start.json', host))[0]).not.toBe(200)
  })

  test('takes any port when another program has its own', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    expect((await open(port)).port).not.toBe(`${port}`)
  })
})
