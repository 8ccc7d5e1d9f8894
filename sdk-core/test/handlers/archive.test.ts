// Folders as ZIP archives: PKWARE's APPNOTE 6.3.10, by the directory at the end, as programs read it.

import { expect, test } from 'vitest'
import { ARCHIVE_MAX, ARCHIVES_SHARE } from '../../src/handlers/archive.ts'
import { type FilesOptions, files } from '../../src/handlers/files.ts'
import { zip, zipSize } from '../../src/handlers/zip.ts'
import { ask } from './ask.ts'

interface Found {
  name: string
  text: string
  crc: number
}

function file(text: string, name = 'a', lastModified: number = Date.UTC(2026, 10, 29, 4, 30, 12)): File {
  return new File([text], name, { lastModified })
}

/** Returns the files by the central directory (§4.3.12), and the content that each leads to. */
function read(bytes: Uint8Array): Found[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const u16 = (at: number): number => view.getUint16(at, true)
  const u32 = (at: number): number => view.getUint32(at, true)
  const text = (at: number, length: number): string =>
    new TextDecoder().decode(bytes.subarray(at, at + length))
  const end = bytes.length - 22
  expect(u32(end)).toBe(0x06054b50)
  const found: Found[] = []
  for (let at = u32(end + 16), left = u16(end + 10); left > 0; left -= 1) {
    expect(u32(at)).toBe(0x02014b50)
    const local = u32(at + 42)
    expect(u32(local)).toBe(0x04034b50)
    const content = local + 30 + u16(local + 26) + u16(local + 28)
    const name = text(at + 46, u16(at + 28))
    found.push({ name, text: text(content, u32(at + 20)), crc: u32(at + 16) })
    at += 46 + u16(at + 28) + u16(at + 30)
  }
  return found
}

async function archiveOf(
  source: ReadonlyMap<string, File>,
  path = '/?zip',
  options: FilesOptions = {},
): Promise<Found[]> {
  const response = await ask(files(source, { listing: true, archive: true, ...options }), path)
  const bytes = new Uint8Array(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
  return read(bytes)
}

test('has each file below the folder, with its checksum', async () => {
  const source = new Map([
    ['a.txt', file('123456789')],
    ['sub/ü.txt', file('')],
    ['sub/deep/c', file('c')],
  ])
  expect(await archiveOf(source)).toEqual([
    { name: 'site.example/a.txt', text: '123456789', crc: 0xcbf43926 },
    { name: 'site.example/sub/ü.txt', text: '', crc: 0 },
    expect.objectContaining({ name: 'site.example/sub/deep/c', text: 'c' }),
  ])
  expect((await archiveOf(source, '/sub/?zip')).map(({ name }) => name)).toEqual(['sub/ü.txt', 'sub/deep/c'])
})

test('is named after the folder, and is saved', async () => {
  const handler = files(new Map([['my "photos"/a', file('a')]]), { listing: true, archive: true })
  const { headers } = await ask(handler, '/my%20%22photos%22/?zip', { method: 'HEAD' })
  expect(headers.get('content-type')).toBe('application/zip')
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="my _photos_.zip"; filename*=UTF-8''my%20_photos_.zip`,
  )
})

test('no name leads out of the folder, or has a meaning on another system', async () => {
  const names = [
    '../up',
    'a/../../up',
    '/etc/passwd',
    './here',
    'C:\\x',
    'a\\..\\b',
    'nul\0',
    'a\u202egpj.exe',
  ]
  const found = await archiveOf(new Map(names.map((name) => [name, file('x')])))
  expect(found.map(({ name }) => name)).toEqual(
    ['C__x', 'a_.._b', 'nul_', 'a_gpj.exe'].map((name) => `site.example/${name}`),
  )
})

test('no two files have one name', async () => {
  const source = new Map(['a:b', 'a?b', 'a_b'].map((name) => [name, file(name)]))
  const found = await archiveOf(source)
  expect(new Set(found.map(({ name }) => name)).size).toBe(3)
})

test('leaves hidden files out, unless they are served', async () => {
  const source = new Map(['.env', '.git/config', 'a'].map((name) => [name, file(name)]))
  expect((await archiveOf(source)).map(({ text }) => text)).toEqual(['a'])
  expect(await archiveOf(source, '/?zip', { hidden: true })).toHaveLength(3)
})

test('is off by default, and is nowhere without a listing', async () => {
  const source = new Map([['a', file('a')]])
  const type = async (options: FilesOptions): Promise<string | null> =>
    (await ask(files(source, options), '/?zip')).headers.get('content-type')
  expect(await type({ listing: true })).toMatch(/^text\/html/)
  expect((await ask(files(source, { archive: true }), '/?zip')).status).toBe(404)
})

test('has bounds', async () => {
  const source = new Map(
    Array.from({ length: ARCHIVE_MAX.files + 1 }, (_, index) => [`f${index}`, file('x')]),
  )
  const response = await ask(files(source, { listing: true, archive: true }), '/?zip')
  expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('10000 files')])
})

test('a network gets so many at once, and others when it has left', async () => {
  const handler = files(new Map([['a', file('a')]]), { listing: true, archive: true })
  const open = Array.from({ length: ARCHIVES_SHARE }, () => ask(handler, '/?zip'))
  const [first, second] = await Promise.all(open)
  const refused = await ask(handler, '/?zip')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30'])
  await first?.body?.cancel()
  await second?.arrayBuffer()
  const again = await Promise.all([ask(handler, '/?zip'), ask(handler, '/?zip'), ask(handler, '/?zip')])
  expect(again.map(({ status }) => status)).toEqual([200, 200, 503])
})

test('a file that changes ends the transfer', async () => {
  const shrinking = file('long')
  Object.defineProperty(shrinking, 'stream', { value: () => new Blob(['x']).stream() })
  const handler = files(new Map([['a', shrinking]]), { listing: true, archive: true })
  await expect((await ask(handler, '/?zip')).arrayBuffer()).rejects.toThrow('changed')
})

test('a file of 4 GiB has its size in 64 bits (§4.5.3)', async () => {
  const large = Object.defineProperty(file('x', 'large'), 'size', { value: 5 * 2 ** 30 })
  const { value: header } = await zip([{ path: 'large', file: large }]).next()
  const view = new DataView(header!.buffer)
  expect([view.getUint32(18, true), view.getUint32(22, true)]).toEqual([0xffffffff, 0xffffffff])
  const extra = 30 + 5 + 9
  expect([view.getUint16(extra, true), view.getUint16(extra + 2, true)]).toEqual([1, 16])
  const small = zipSize([{ path: 'large', file: file('x') }])
  // Two sizes in the local header, four bytes more for each in the descriptor, and both in the directory; and where that begins.
  expect(zipSize([{ path: 'large', file: large }])).toBe(small - 1 + 5 * 2 ** 30 + 20 + 8 + 20 + 76)
})
