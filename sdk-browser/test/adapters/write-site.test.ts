// What the adapters write: one module, with the server's imports in it, that answers as a fetch handler.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { FetchHandler } from '@svc/sdk-core'
import { afterAll, afterEach, expect, test } from 'vitest'
import { ask } from '../../../sdk-core/test/handlers/ask.ts'
import { writeSite } from '../../src/adapters/write-site.ts'
import { removeGlobals } from '../../src/globals/install.ts'

// from here the module finds the SDK
const directory = mkdtempSync(path.join(import.meta.dirname, '../../../node_modules/.site-'))
afterAll(() => rmSync(directory, { recursive: true }))
afterEach(removeGlobals)

const SERVER = `import { greet } from './greet.js'
const handle = async (request) => new Response(await greet(new URL(request.url).pathname))`

test('a server with its imports, files of any kind and pages below a base', async () => {
  const write = (name: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true })
    writeFileSync(path.join(directory, name), content)
  }
  write('part.js', "export const word = 'hello'")
  write(
    'greet.js',
    `import os from 'node:os'
export async function greet(path) {
  const { word } = await import('./part.js')
  const { AsyncLocalStorage } = await import('async_hooks')
  return [word, path, process.env.NODE_ENV, typeof os.cpus, typeof AsyncLocalStorage, fetch === globalThis.fetch].join(' ')
}`,
  )
  write('client/assets/a b.js', 'let a = "</script>\u2028"')
  write('client/bom.txt', '\ufeffa')
  write('client/pixel.gif', Uint8Array.of(71, 73, 70, 255))
  write('pages/about.html', '<h1>')
  const out = path.join(directory, 'build')
  await writeSite({
    out,
    files: ['client', 'pages'].map((name) => path.join(directory, name)),
    base: '/docs/',
    pages: { '/docs/about': 'about.html' },
    immutable: 'assets/',
    server: SERVER,
    directory,
  })

  const code = readFileSync(path.join(out, 'site.js'), 'utf8')
  const imports = [...code.matchAll(/^import .*?"(.+)";$/gm)].map(([, name]) => name)
  expect(imports).toEqual(['@svc/sdk-browser/globals', '@svc/sdk-browser/handlers'])
  expect(code).not.toContain('import(')

  const { fetch } = (await import(path.join(out, 'site.js'))) as { fetch: FetchHandler }
  const text = async (path: string): Promise<string> => (await ask(fetch, path)).text()
  expect(await text('/docs/x')).toBe('hello /docs/x production undefined undefined true')
  expect(await text('/docs/assets/a%20b.js')).toBe('let a = "</script>\u2028"')
  expect((await ask(fetch, '/docs/assets/a%20b.js')).headers.get('cache-control')).toContain('immutable')
  expect([...(await (await ask(fetch, '/docs/pixel.gif')).bytes())]).toEqual([71, 73, 70, 255])
  expect([...(await (await ask(fetch, '/docs/bom.txt')).bytes())]).toEqual([239, 187, 191, 97])
  expect(await text('/docs/about')).toBe('<h1>')
  expect(await text('/assets/a%20b.js')).toMatch(/^hello /)
})

test('an index.html answers for its directory; the manifest of a build is for nobody', async () => {
  const client = path.join(directory, 'indexes')
  for (const name of [
    'index.html',
    'about/index.html',
    'about/more.html',
    '.vite/manifest.json',
    '.well-known/a',
  ]) {
    mkdirSync(path.dirname(path.join(client, name)), { recursive: true })
    writeFileSync(path.join(client, name), name)
  }
  const out = path.join(directory, 'indexed')
  const server = "const handle = () => new Response('server')"
  await writeSite({ out, files: [client], base: '', immutable: 'a/', server, directory })
  const { fetch } = (await import(path.join(out, 'site.js'))) as { fetch: FetchHandler }
  const paths = ['/', '/about', '/about/', '/about/more', '/.vite/manifest.json', '/.well-known/a']
  const answers = paths.map(async (path) => (await ask(fetch, path)).text())
  expect(await Promise.all(answers)).toEqual([
    'index.html',
    'about/index.html',
    'about/index.html',
    'server',
    'server',
    '.well-known/a',
  ])
})

test('what the server imports and nobody has fails the build', async () => {
  const parts = { out: path.join(directory, 'none'), files: [], base: '', immutable: 'a', directory }
  await expect(writeSite({ ...parts, server: "import './none.js'\nconst handle = 1" })).rejects.toThrow(
    './none.js',
  )
})
