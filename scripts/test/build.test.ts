// The relay's pages are built once for the same sources, in one step, and an installation without the tools goes on.

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, test as every, expect, vi } from 'vitest'
import { buildRelayPages } from '../../tools/bundler/relay-pages.ts'
import { root } from '../../tools/programs/command.ts'
import { wholeOnly } from '../../tools/test-depth.ts'

const test = wholeOnly(every, 'depth')

const scripts = path.join(root, 'scripts')
/** A folder on the file system that the pages are built on. */
const cache = path.join(root, 'node_modules/.cache')

let directory: string
beforeAll(() => {
  mkdirSync(cache, { recursive: true })
  directory = mkdtempSync(path.join(cache, 'svc-test-build-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

test('they are built when their sources are others, and not again', async () => {
  const pages = path.join(directory, 'pages')
  const onBuild = vi.fn()
  const build = () => buildRelayPages({ directory: pages, onBuild })
  mkdirSync(pages)
  writeFileSync(path.join(pages, 'of-before.js'), 'old')
  writeFileSync(path.join(pages, '.built-from'), 'other sources')

  expect(await build()).toBe(pages)
  expect(onBuild).toHaveBeenCalledTimes(1)
  for (const name of ['index.html', 'sites/index.html', 'admin/index.html', 'examples/index.html'])
    expect(readFileSync(path.join(pages, name), 'utf8')).toContain('<!doctype html>')
  expect(readdirSync(path.join(pages, 'assets')).filter((name) => name.endsWith('.br'))).not.toEqual([])
  expect(existsSync(path.join(pages, 'of-before.js'))).toBe(false)

  const { ino } = statSync(pages)
  await build()
  expect(onBuild).toHaveBeenCalledTimes(1)
  expect(statSync(pages).ino).toBe(ino)
  expect(readdirSync(cache).filter((name) => name.startsWith('svc-pages-'))).toEqual([])
})

test('npm run site with an argument says what it does instead', () => {
  const { status, stderr } = spawnSync(process.execPath, [path.join(scripts, 'site.ts'), '/srv/svc'], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([2, expect.stringContaining('Usage: npm run site')])
})
