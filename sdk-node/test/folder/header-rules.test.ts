// `_headers` of a served folder: which fields the answers for which paths have.

import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { files } from '@svc/sdk-node/handlers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withHeaderRules } from '../../src/folder/header-rules.ts'
import { openFolder } from '../../src/index.ts'

const RULES = `# for all
/*
  Cross-Origin-Opener-Policy: same-origin
  X-Many: one
  Content-Length: 3
  nonsense

/:page.html
  X-Never: a segment has no extension here

/app.wasm
\tCache-Control: public, max-age=31536000
  X-Many: two
  ! X-Content-Type-Options

/assets/:kind/*.js
  X-Asset: yes
`

let root: string
let ask: (path: string) => Promise<Response>

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-rules-'))
  for (const name of ['app.wasm', 'a.txt']) await writeFile(join(root, name), 'content')
  await writeFile(join(root, '_headers'), RULES.replaceAll('\n', '\r\n'))
  const folder = await openFolder(root)
  const handler = withHeaderRules(folder, (shown) => files(shown, { listing: true, archive: true }))
  ask = async (path) => handler(new Request(new URL(path, 'https://a.example')), undefined as never)
})
afterEach(() => rm(root, { recursive: true }))

it('rules of all paths that match set fields, in place of those of the file', async () => {
  const { headers } = await ask('/app.wasm')
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('cache-control')).toBe('public, max-age=31536000')
  expect([headers.get('x-many'), headers.get('x-content-type-options')]).toEqual(['one, two', null])
  expect([headers.get('content-length'), headers.get('content-type')]).toEqual(['7', 'application/wasm'])
  const other = (await ask('/a.txt')).headers
  expect([other.get('cache-control'), other.get('x-many'), other.get('x-asset')]).toEqual([
    'no-cache',
    'one',
    null,
  ])
})

it('a path has placeholders of one segment and one star', async () => {
  const hasRule = async (path: string) => (await ask(path)).headers.has('x-asset')
  expect(await hasRule('/assets/a/b/c.js')).toBe(true)
  expect(await hasRule('/assets/a.js')).toBe(false)
  expect(await hasRule('/assets/a/b.css')).toBe(false)
})

it.each(['/_headers', '/%5Fheaders', '/_HEADERS'])('%s is not served', async (path) => {
  expect((await ask(path)).status).toBe(404)
})

it('it is in no listing and in no archive', async () => {
  for (const path of ['/', '/?zip']) {
    const text = await (await ask(path)).text()
    expect(text).toContain('app.wasm')
    expect(text).not.toMatch(/_headers/i)
  }
})

it('a change is seen, and without the file there are no rules', async () => {
  await ask('/a.txt')
  await writeFile(join(root, '_headers'), '/a.txt\n  X-New: yes\n')
  await utimes(join(root, '_headers'), 5, 5)
  expect((await ask('/a.txt')).headers.get('x-new')).toBe('yes')
  await rm(join(root, '_headers'))
  expect((await ask('/a.txt')).headers.get('x-new')).toBe(null)
})
