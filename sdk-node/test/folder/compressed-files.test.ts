// Files of a folder are compressed for visitors that accept it, once, within bounds.

import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { files } from '@svc/sdk-core/handlers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import {
  COMPRESSED_MAX_BYTES,
  COMPRESSING_MAX,
  CompressedFiles,
  KEPT_MAX_BYTES,
} from '../../src/folder/compressed-files.ts'
import { openFolder } from '../../src/index.ts'

const TEXT = 'a line of text\n'.repeat(200)
let root: string
let ask: (path: string, accepted?: string, fields?: Record<string, string>) => Promise<Response>
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-compressed-'))
  for (const name of ['a.css', 'a.json', 'a.png']) await writeFile(join(root, name), TEXT)
  await writeFile(join(root, 'small.txt'), 'small')
  const handler = files(await openFolder(root))
  ask = async (path, accepted, fields = {}) => {
    const headers = { ...fields, ...(accepted !== undefined && { 'Accept-Encoding': accepted }) }
    return handler(new Request(new URL(path, 'https://a.example'), { headers }), undefined as never)
  }
})
afterEach(() => rm(root, { recursive: true }))

const codingOf = (response: Response): string | null => response.headers.get('content-encoding')

describe('a compressed file', () => {
  it('has the best coding that the visitor accepts, with a length and a tag of its own', async () => {
    const [plain, br, gzip] = [
      await ask('/a.css'),
      await ask('/a.css', 'gzip, deflate, br'),
      await ask('/a.css', 'br;q=0, gzip'),
    ]
    expect([plain, br, gzip].map(codingOf)).toEqual([null, 'br', 'gzip'])
    for (const response of [plain, br, gzip]) {
      expect(response.headers.get('vary')).toBe('Accept-Encoding')
      expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8')
    }
    const tags = new Set([plain, br, gzip].map(({ headers }) => headers.get('etag')))
    expect(tags.size).toBe(3)
    const bytes = Buffer.from(await br.arrayBuffer())
    expect(br.headers.get('content-length')).toBe(String(bytes.length))
    expect(brotliDecompressSync(bytes).toString()).toBe(TEXT)
    expect(gunzipSync(Buffer.from(await gzip.arrayBuffer())).toString()).toBe(TEXT)
    expect(await plain.text()).toBe(TEXT)
    expect((await ask('/a.css', 'br', { 'If-None-Match': br.headers.get('etag')! })).status).toBe(304)
  })

  it('is another one once the file has changed', async () => {
    await (await ask('/a.json', 'br')).arrayBuffer()
    await writeFile(join(root, 'a.json'), TEXT.toUpperCase())
    await utimes(join(root, 'a.json'), 1_800_000_000, 1_800_000_000)
    const bytes = Buffer.from(await (await ask('/a.json', 'br')).arrayBuffer())
    expect(brotliDecompressSync(bytes).toString()).toBe(TEXT.toUpperCase())
  })

  it('is one that is worth it: no picture, and no small file', async () => {
    expect([codingOf(await ask('/a.png', 'br')), codingOf(await ask('/small.txt', 'br'))]).toEqual([
      null,
      null,
    ])
    expect((await ask('/a.png', 'br')).headers.get('vary')).toBeNull()
  })
})

describe('bounds', () => {
  const text = (size = 2000): File => new File(['x'.repeat(size)], 'a.txt', { lastModified: 1 })

  it('leave a file as it is that is too large, or that does not become smaller', async () => {
    const compressed = new CompressedFiles()
    expect(await compressed.of(text(COMPRESSED_MAX_BYTES + 1), 'large', 'br')).toBeUndefined()
    const noise = new File([crypto.getRandomValues(new Uint8Array(2000))], 'noise')
    expect(await compressed.of(noise, 'noise', 'gzip')).toBeUndefined()
    expect(await compressed.of(text(), 'text', 'gzip')).toMatchObject({ name: 'a.txt', lastModified: 1 })
  })

  it('compress a file once for all who ask, and only so many at once', async () => {
    const compressed = new CompressedFiles()
    let reads = 0
    const counted = (): File =>
      Object.assign(text(), {
        bytes: async () => {
          reads += 1
          return new Uint8Array(2000)
        },
      })
    const ask = (): Promise<File | undefined> => compressed.of(counted(), 'same', 'br')
    const same = await Promise.all([ask(), ask(), ask()])
    expect([reads, new Set(same).size]).toEqual([1, 1])
    const asked = Array.from({ length: COMPRESSING_MAX + 3 }, (_, at) => compressed.of(text(), `${at}`, 'br'))
    const made = (await Promise.all(asked)).filter((file) => file !== undefined)
    expect(made).toHaveLength(COMPRESSING_MAX)
    // Those that found no room are not known as files that stay as they are.
    expect(await compressed.of(text(), `${COMPRESSING_MAX}`, 'br')).toBeDefined()
  })

  wholeOnly(it, 'depth')(
    'forget the file that was used longest ago',
    async () => {
      const compressed = new CompressedFiles()
      const reads: string[] = []
      const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(32_768)))
      // Hexadecimal digits become half as long.
      const bytes = Buffer.from(noise.toString('hex'))
      const large = (name: string): File =>
        Object.assign(new File([bytes], name, { lastModified: 1 }), {
          bytes: async () => {
            reads.push(name)
            return new Uint8Array(bytes)
          },
        })
      const first = await compressed.of(large('first'), 'first', 'gzip')
      const count = Math.ceil(KEPT_MAX_BYTES / first!.size)
      for (let at = 0; at < count; at++) await compressed.of(large(`${at}`), `${at}`, 'gzip')
      await compressed.of(large(`${count - 1}`), `${count - 1}`, 'gzip')
      await compressed.of(large('first'), 'first', 'gzip')
      expect(reads).toHaveLength(count + 2)
    },
    60_000,
  )
})
