// The relay's own files, by what RFC 9110 says of them: ranges (§14), conditions (§13), content codings (§12.5.3).

import { readdirSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BODY_CHUNK_BYTES } from '../../../src/core/api/http/body-writer.ts'
import { FILES_OPEN_MAX, findFile, readPieces } from '../../../src/core/api/http/stored-file.ts'
import { takesCoding } from '../../../src/core/http/content-coding.ts'
import { readRange } from '../../../src/core/http/range.ts'
import { startTestRelay, type TestRelay } from '../../support/relay.ts'

const MODIFIED = new Date('2026-01-02T03:04:05.678Z')
/** Three pieces. */
const LARGE: string = 'abcdefghij'.repeat(Math.ceil((BODY_CHUNK_BYTES * 2.5) / 10))

let directory: string
let relay: TestRelay
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-files-'))
  await mkdir(join(directory, 'docs.v1'))
  await mkdir(join(directory, 'folder'))
  const files = {
    'index.html': 'index',
    'digits.txt': '0123456789',
    'digits.txt.gz': 'gzipped',
    'large.bin': LARGE,
    'empty.css': '',
    'about.html': 'about',
    '404.html': 'no such page',
    'docs.v1/index.html': 'docs',
    'na me+ü.svg': '<svg/>',
    'install.sh': '#!/bin/sh\n',
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(directory, name), text)
    await utimes(join(directory, name), MODIFIED, MODIFIED)
  }
  await symlink('loop', join(directory, 'loop'))
  relay = await startTestRelay({ SVC_SITE_DIR: directory, SVC_INSTALL_DIR: directory })
})
afterAll(async () => {
  await relay.close()
  await rm(directory, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  relay.call(method, path, undefined, headers)

describe('a page that is not there', () => {
  test('is the page 404.html for people, and a line for programs', async () => {
    const people = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    for (const path of ['/none', '/404', '/404.html', '/.hidden', '/%ff']) {
      expect(await get(path, people)).toMatchObject({ status: 404, text: 'no such page' })
      expect(await get(path)).toMatchObject({ status: 404, text: 'Not found\n' })
    }
    const { headers } = await get('/none', people)
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      vary: expect.stringContaining('Accept'),
    })
    expect(await get('/none', people, 'HEAD')).toMatchObject({ status: 404, text: '' })
  })
})

describe('a range', () => {
  test.each([
    ['bytes=0-3', '0123', '0-3'],
    ['bytes=4-', '456789', '4-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=8-1000', '89', '8-9'],
    ['bytes=-1000', '0123456789', '0-9'],
    ['Bytes=9-9', '9', '9-9'],
  ])('%s is %s', async (range, text, part) => {
    expect(await get('/digits.txt', { Range: range })).toMatchObject({
      status: 206,
      text,
      headers: { 'content-range': `bytes ${part}/10`, 'content-length': `${text.length}` },
    })
  })

  test.each([
    'bytes=10-',
    'bytes=-0',
    'bytes=5-4',
    'bytes=a-b',
    'bytes=',
    'bytes=1',
    'bytes',
    'bytes=--1',
    '0-3',
  ])('%s is answered with 416', async (range) => {
    expect(await get('/digits.txt', { Range: range })).toMatchObject({
      status: 416,
      text: '',
      headers: { 'content-range': 'bytes */10' },
    })
  })

  test.each(['lines=0-3', 'bytes=0-1,3-4', 'bytes=0-1, 99-'])(
    '%s is answered with the whole',
    async (range) => {
      const answer = await get('/digits.txt', { Range: range })
      expect(answer).toMatchObject({ status: 200, text: '0123456789', headers: { 'accept-ranges': 'bytes' } })
      expect(answer.headers).not.toHaveProperty('content-range')
    },
  )

  test('begins and ends in any piece of a large file', async () => {
    const [start, end] = [BODY_CHUNK_BYTES - 5, BODY_CHUNK_BYTES * 2 + 5]
    const answer = await get('/large.bin', { Range: `bytes=${start}-${end}` })
    expect(answer).toMatchObject({ status: 206, text: LARGE.slice(start, end + 1) })
    expect(await get('/large.bin')).toMatchObject({ status: 200, text: LARGE })
  })

  test('of an empty file does not exist', async () => {
    expect(await get('/empty.css', { Range: 'bytes=0-' })).toMatchObject({ status: 416 })
    expect(await get('/empty.css')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '0' },
    })
  })

  test('holds for the compressed file that is sent, and for the installer', async () => {
    const headers = { Range: 'bytes=0-1', 'Accept-Encoding': 'gzip' }
    expect(await get('/digits.txt', headers)).toMatchObject({ status: 206, text: 'gz' })
    expect(await get('/api/install.sh', { Range: 'bytes=0-1' })).toMatchObject({ status: 206, text: '#!' })
  })

  test('of a request for the head alone counts for nothing', async () => {
    expect(await get('/digits.txt', { Range: 'bytes=0-3' }, 'HEAD')).toMatchObject({
      status: 200,
      headers: { 'content-length': '10' },
    })
  })

  test('a long header costs no more than its length', () => {
    expect(readRange(`bytes=${'0-,'.repeat(5_000)}`, 10)).toBe('invalid')
    expect(readRange(`bytes=${'9'.repeat(15_000)}-`, 10)).toBe('invalid')
  })
})

describe('a condition', () => {
  test('a tag or a time of the same version is answered with 304', async () => {
    const { headers } = await get('/digits.txt')
    expect(headers['last-modified']).toBe('Fri, 02 Jan 2026 03:04:05 GMT')
    for (const condition of [
      { 'If-None-Match': `${headers.etag}` },
      { 'If-None-Match': `"other", ${headers.etag}`, 'If-Modified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
      { 'If-Modified-Since': 'Fri, 02 Jan 2026 03:04:05 GMT' },
    ]) {
      const answer = await get('/digits.txt', condition)
      expect(answer).toMatchObject({
        status: 304,
        text: '',
        headers: { etag: headers.etag, vary: 'Accept-Encoding', 'cache-control': 'no-cache' },
      })
      expect(answer.headers).not.toHaveProperty('content-length')
      expect(answer.headers).not.toHaveProperty('content-type')
    }
  })

  test.each([
    { 'If-None-Match': '"other"', 'If-Modified-Since': 'Fri, 02 Jan 2026 03:04:05 GMT' },
    { 'If-Modified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' },
    { 'If-Modified-Since': 'yesterday' },
  ] as Record<string, string>[])('%o is answered with the file', async (condition) => {
    expect(await get('/digits.txt', condition)).toMatchObject({ status: 200, text: '0123456789' })
  })

  test('a range of another version is answered with the whole of this one', async () => {
    const { etag } = (await get('/digits.txt')).headers
    const ask = (condition: string) => get('/digits.txt', { Range: 'bytes=0-3', 'If-Range': condition })
    for (const condition of [`${etag}`, 'Fri, 02 Jan 2026 03:04:05 GMT'])
      expect(await ask(condition)).toMatchObject({ status: 206, text: '0123' })
    for (const condition of [`W/${etag}`, '"other"', 'Fri, 02 Jan 2026 03:04:04 GMT', 'now'])
      expect(await ask(condition)).toMatchObject({ status: 200, text: '0123456789' })
  })
})

describe('a path', () => {
  test.each([
    ['/', 'index', 'text/html; charset=utf-8'],
    ['/about', 'about', 'text/html; charset=utf-8'],
    ['/docs.v1', 'docs', 'text/html; charset=utf-8'],
    ['//docs.v1//', 'docs', 'text/html; charset=utf-8'],
    ['/na%20me+%C3%BC.svg?a=/../b', '<svg/>', 'image/svg+xml'],
    ['/digits.txt', '0123456789', 'text/plain; charset=utf-8'],
    ['/install.sh', '#!/bin/sh\n', 'application/octet-stream'],
  ])('%s is found', async (path, text, type) => {
    expect(await get(path)).toMatchObject({ status: 200, text, headers: { 'content-type': type } })
  })

  test.each([
    '/digits.txt/',
    '/digits',
    '/folder',
    '/folder/',
    '/loop',
    '/docs.v1%2F..%2Fdigits.txt',
    '/docs.v1%2f.hidden',
    '/..%5cdigits.txt',
    '/digits.txt%00.html',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/%ff',
    `/${'a'.repeat(5_000)}`,
  ])('%s is not found', async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, text: 'Not found\n' })
  })

  test('takes GET and HEAD alone', async () => {
    expect(await get('/about', {}, 'HEAD')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '5' },
    })
    for (const method of ['POST', 'DELETE', 'OPTIONS'])
      expect(await get('/about', {}, method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
    expect(await get('/nothing', {}, 'POST')).toMatchObject({ status: 404 })
  })
})

test.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['br, GZIP ; q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=0.000, *', false],
  ['*', true],
  ['*;q=0', false],
  ['identity, *;q=0.1', true],
  ['gzipped', false],
  ['gzip;level=9', false],
])('Accept-Encoding: %s takes gzip: %s', (header, isTaken) => {
  expect(takesCoding(header, 'gzip')).toBe(isTaken)
})

describe('a file that is being sent', () => {
  async function begin(name: string) {
    const path = join(directory, name)
    await writeFile(path, LARGE)
    const file = await findFile(path)
    const pieces = readPieces(file!, { start: 0, end: LARGE.length - 1 })
    expect((await pieces.next()).value).toHaveLength(BODY_CHUNK_BYTES)
    return { path, pieces }
  }

  test('and is written to meanwhile is broken off, not mixed', async () => {
    const { path, pieces } = await begin('changing.bin')
    await writeFile(path, LARGE.toUpperCase())
    await expect(pieces.next()).rejects.toThrow('changed while')
  })

  test('and is deleted meanwhile is broken off', async () => {
    const { path, pieces } = await begin('deleted.bin')
    await rm(path)
    await expect(pieces.next()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('shares the few descriptors for files with all others', async () => {
    const path = join(directory, 'shared.bin')
    await writeFile(path, LARGE)
    const file = await findFile(path)
    const readers = Array.from({ length: FILES_OPEN_MAX * 3 }, async () => {
      let read = 0
      for await (const piece of readPieces(file!, { start: 0, end: LARGE.length - 1 })) read += piece.length
      return read
    })
    const looks = setInterval(() => {
      const links = readdirSync('/proc/self/fd').map((fd) => readLink(`/proc/self/fd/${fd}`))
      most = Math.max(most, links.filter((link) => link === path).length)
    }, 1)
    let most = 0
    expect(new Set(await Promise.all(readers))).toEqual(new Set([LARGE.length]))
    clearInterval(looks)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(FILES_OPEN_MAX)
  })
})

/** Undefined for what was closed meanwhile. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
