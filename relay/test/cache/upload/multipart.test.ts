// Uploads to the static cache: which bodies the relay takes, what it says about others, and how much of one it holds.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CACHE_FILES_MAX, CACHE_MANIFEST_MAX_BYTES, parseManifest } from '@svc/protocol'
import { describe, expect, test } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { RelayError } from '../../../src/core/errors.ts'
import { readUpload, type Upload } from '../../../src/features/static-cache/upload/multipart.ts'
import {
  PART_HEADERS_MAX,
  PART_HEADERS_MAX_BYTES,
  PART_OVERHEAD_MAX_BYTES,
} from '../../../src/features/static-cache/upload/multipart-reader.ts'
import {
  BOUNDARY,
  bodyOf,
  CONTENT_TYPE,
  collect,
  inPieces,
  partOf,
  type TestPart,
  uploadOf,
} from '../../support/multipart-body.ts'

const MIB = 1024 * 1024
const LIMITS = { maxExposureBytes: 64 * MIB, maxObjectBytes: 10 * MIB }
const FILES = { 'a.html': '<p>a</p>', 'b/empty.txt': '', 'c.bin': Buffer.alloc(100_000, 7) }
const parse = (value: unknown) => parseManifest(value, LIMITS)

function read(body: Buffer, contentType: string | undefined = CONTENT_TYPE, size = 65_536): Promise<Upload> {
  return readUpload(
    inPieces(body, () => size),
    contentType,
    parse,
  )
}

async function readAll(upload: Upload): Promise<Buffer[]> {
  const contents: Buffer[] = []
  for await (const object of upload.objects) contents.push(await collect(object))
  return contents
}

/** The message of the error that a body causes, in the manifest or later. */
async function refusal(body: Buffer, contentType = CONTENT_TYPE): Promise<string> {
  try {
    await readAll(await read(body, contentType))
  } catch (error) {
    expect(error).toBeInstanceOf(RelayError)
    expect((error as RelayError).code).toBe('invalid_request')
    return (error as Error).message
  }
  throw new Error('the body was taken')
}

describe('bodies that the relay takes', () => {
  test('a manifest and its objects, in pieces of any size', async () => {
    for (const size of atDepth([1, 2, 3, 7, 64, 1000, 16_384, 65_536], [7, 1000, 65_536])) {
      const upload = await read(bodyOf(uploadOf(FILES)), CONTENT_TYPE, size)
      expect(upload.manifest.files.map(({ path }) => path)).toEqual(Object.keys(FILES))
      expect(await readAll(upload)).toEqual(
        Object.values(FILES).map((content) => Buffer.from(content as string)),
      )
    }
  })

  test.each([
    ['a field', ''],
    ['a file', '; filename="manifest.json"'],
  ])('a manifest that is sent as %s', async (_, more) => {
    const [manifest, ...objects] = uploadOf(FILES)
    const parts = [partOf('manifest', manifest!.content, more), ...objects]
    expect(await readAll(await read(bodyOf(parts)))).toHaveLength(3)
  })

  test.each([
    'form-data; name=object',
    'form-data; filename="x"; name="object"',
    'FORM-DATA; name="object"; filename="a\\"b;c.txt"',
    `form-data; name="object"; filename*=utf-8''%e4; filename="ä"`,
  ])('other ways to name a part: %s', async (disposition) => {
    const [manifest] = uploadOf({ a: 'x' })
    const part = { headers: `content-disposition: ${disposition}`, content: 'x' }
    expect(await readAll(await read(bodyOf([manifest!, part])))).toEqual([Buffer.from('x')])
  })

  test('text before the first boundary and after the last one', async () => {
    const body = Buffer.concat([
      Buffer.from('preamble\r\n'),
      bodyOf(uploadOf(FILES)),
      Buffer.from('epilogue'),
    ])
    expect(await readAll(await read(body))).toHaveLength(3)
  })

  test('any content, also one that nearly has the boundary, however it is cut', async () => {
    const unit = fc.constantFrom(
      '\r',
      '\n',
      '-',
      '\r\n--',
      '\r\n',
      'x',
      BOUNDARY.slice(0, -1),
      `--${BOUNDARY} `,
    )
    const content = fc.array(unit, { maxLength: 60 }).map((units) => units.join(''))
    await fc.assert(
      fc.asyncProperty(
        content,
        content,
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        async (a, b, sizes) => {
          fc.pre(!`\r\n${a}`.includes(`\r\n--${BOUNDARY}`) && !`\r\n${b}`.includes(`\r\n--${BOUNDARY}`))
          const body = inPieces(bodyOf(uploadOf({ a, b })), () => sizes.next().value)
          const contents = await readAll(await readUpload(body, CONTENT_TYPE, parse))
          expect(contents.map(String)).toEqual([a, b])
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('bodies that the relay refuses', () => {
  const parts = uploadOf(FILES)
  const whole = bodyOf(parts)
  const without = (...numbers: number[]): TestPart[] => parts.filter((_, number) => !numbers.includes(number))

  test.each<[string, Buffer, string]>([
    ['no part', bodyOf([]), 'the first part is not named manifest'],
    ['no manifest', bodyOf(without(0)), 'the first part is not named manifest'],
    ['a manifest that is not first', bodyOf([parts[1]!, parts[0]!, ...without(0, 1)]), 'the first part'],
    ['a part too few', bodyOf(without(2)), 'the upload has 2 objects; its manifest lists 3 files'],
    ['only the manifest', bodyOf([parts[0]!]), 'the upload has 0 objects'],
    ['a part too many', bodyOf([...parts, parts[1]!]), 'more parts than its manifest lists'],
    ['another name', bodyOf([parts[0]!, partOf('file', 'x'), ...without(0, 1)]), 'part 2 of the upload'],
    [
      'a part without a name',
      bodyOf([{ headers: 'Content-Disposition: form-data', content: '' }]),
      'first part',
    ],
    ['no disposition', bodyOf([{ headers: 'Content-Type: text/plain', content: '' }]), 'first part'],
    [
      'another disposition',
      bodyOf([{ headers: 'Content-Disposition: inline; name="manifest"', content: '' }]),
      'first',
    ],
    [
      'two names',
      bodyOf([
        {
          headers: `${partOf('manifest', '').headers}\r\ncontent-disposition: form-data; name="x"`,
          content: '',
        },
      ]),
      'a header twice',
    ],
    [
      'an encoding',
      bodyOf([
        { headers: `${partOf('manifest', '').headers}\r\nContent-Transfer-Encoding: base64`, content: '' },
      ]),
      'Content-Transfer-Encoding',
    ],
    ['no JSON', bodyOf([partOf('manifest', '{')]), 'not valid JSON'],
    ['no UTF-8', bodyOf([partOf('manifest', Buffer.from([0x22, 0xff, 0x22]))]), 'not valid JSON'],
    ['JSON that is nested deeply', bodyOf([partOf('manifest', '['.repeat(500_000))]), 'not valid JSON'],
    ['no manifest in the JSON', bodyOf([partOf('manifest', '{}')]), 'files of the manifest'],
    ['nothing', Buffer.alloc(0), 'ends early'],
    ['something else', Buffer.from('{"index":"a"}'), 'ends early'],
    ['no end', bodyOf(parts, ''), 'ends early'],
    ['half an end', bodyOf(parts, `--${BOUNDARY}-`), 'ends early'],
    ['a part cut in its headers', whole.subarray(0, whole.indexOf('Content-Type')), 'ends early'],
    ['a boundary in the headers', bodyOf([{ headers: `A: b\r\n--${BOUNDARY}`, content: '' }]), 'no headers'],
  ])('%s', async (_, body, message) => {
    expect(await refusal(body)).toContain(message)
  })

  test('a body that ends anywhere before its end', async () => {
    const small = bodyOf(uploadOf({ a: 'aaa', b: 'bbb' }))
    for (let length = 0; length < small.length - 2; length++)
      expect(await refusal(small.subarray(0, length))).toContain('ends early')
  })

  test.each([
    undefined,
    '',
    'application/json',
    'multipart/mixed; boundary=x',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('the type %j', async (contentType) => {
    await expect(
      readUpload(
        inPieces(whole, () => 100),
        contentType,
        parse,
      ),
    ).rejects.toThrow('not multipart/form-data with a boundary')
  })

  test('a manifest as large as it may be, and a byte more', async () => {
    const fill = (size: number): Buffer =>
      bodyOf([partOf('manifest', `{"index":"a","files":[]}${' '.repeat(size - 24)}`, '')])
    expect(await refusal(fill(CACHE_MANIFEST_MAX_BYTES))).toContain('index of the manifest')
    expect(await refusal(fill(CACHE_MANIFEST_MAX_BYTES + 1))).toContain('more than 1048576 bytes')
  })

  test('as many headers as a part may have, and one more', async () => {
    const [manifest] = uploadOf({ a: 'x' })
    const withHeaders = (more: string[]): Buffer =>
      bodyOf([manifest!, { headers: [partOf('object', '').headers, ...more].join('\r\n'), content: 'x' }])
    const some = Array.from({ length: PART_HEADERS_MAX - 2 }, (_, n) => `X-${n}: y`)
    expect(await readAll(await read(withHeaders(some)))).toHaveLength(1)
    expect(await refusal(withHeaders([...some, 'X: y']))).toContain('8 headers')
    expect(await refusal(withHeaders(Array.from({ length: 5000 }, () => 'X: y')))).toContain('8 headers')
    expect(await refusal(withHeaders([`X: ${'y'.repeat(PART_HEADERS_MAX_BYTES)}`]))).toContain('4096 bytes')
    expect(await refusal(withHeaders([`X: ${'y'.repeat(MIB)}`]))).toMatch(/4096 bytes|outside of its parts/)
  })

  test('bytes without end that are in no part', async () => {
    const much = Buffer.alloc(PART_OVERHEAD_MAX_BYTES + 16_384, 'x')
    expect(await refusal(Buffer.concat([much, Buffer.from('\r\n'), whole]))).toContain('outside of its parts')
    expect(await refusal(Buffer.concat([whole, much]))).toContain('outside of its parts')
    const header = Buffer.from(`--${BOUNDARY}\r\nX: `)
    expect(await refusal(Buffer.concat([header, much]))).toContain('outside of its parts')
  })

  test('parts without end', async () => {
    const many = Array.from({ length: CACHE_FILES_MAX + 1 }, () => partOf('object', ''))
    expect(await refusal(bodyOf([partOf('manifest', ''), ...many]))).toMatch(
      /more than 2049 parts|not valid JSON/,
    )
    expect(await refusal(Buffer.from(`\r\n--${BOUNDARY}`.repeat(100_000)))).toContain('no headers')
  })
})

describe('memory and time', () => {
  test('a reader that stops takes no more of the body, and what it left is let go', async () => {
    let taken = 0
    let isClosed = false
    async function* body(): AsyncGenerator<Buffer> {
      try {
        for await (const piece of inPieces(
          bodyOf(uploadOf({ a: Buffer.alloc(5 * MIB), b: 'x' })),
          () => 65_536,
        )) {
          taken += piece.length
          yield piece
        }
      } finally {
        isClosed = true
      }
    }
    const upload = await readUpload(body(), CONTENT_TYPE, parse)
    for await (const object of upload.objects) {
      for await (const _ of object) break
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(taken).toBeLessThanOrEqual(2 * 65_536)
      break
    }
    await expect.poll(() => isClosed).toBe(true)
  })

  test('a thousand small parts before a large one do not let it pile up', async () => {
    const files: Record<string, string | Buffer> = {}
    for (let n = 1000; n < 2000; n++) files[`${n}`] = `${n}`
    files.z = Buffer.alloc(8 * MIB, 1)
    let taken = 0
    const body = inPieces(bodyOf(uploadOf(files)), () => 65_536)
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const piece of body) {
        taken += piece.length
        yield piece
      }
    }
    const upload = await readUpload(counted(), CONTENT_TYPE, parse)
    let given = JSON.stringify(upload.manifest).length
    for await (const object of upload.objects)
      for await (const chunk of object) {
        given += chunk.length + 150
        expect(taken - given).toBeLessThan(4 * 65_536)
      }
  })

  test('an error of the body ends the object that is being read', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield bodyOf(uploadOf(FILES)).subarray(0, -50_000)
      throw new RelayError('invalid_request', 'the body took too long')
    }
    const upload = await readUpload(broken(), CONTENT_TYPE, parse)
    await expect(readAll(upload)).rejects.toThrow('the body took too long')
  })
})

describe('real clients', () => {
  const files = { 'a.html': '<p>a</p>', 'b.bin': Buffer.alloc(3 * MIB, 9) }

  test('fetch with FormData: the manifest as text, and as a Blob', async () => {
    for (const isBlob of [false, true]) {
      const { contents } = await receive(async (url) => {
        const [manifest, ...objects] = uploadOf(files)
        const form = new FormData()
        const text = String(manifest!.content)
        form.append('manifest', isBlob ? new Blob([text], { type: 'application/json' }) : text)
        for (const { content } of objects)
          form.append('object', new Blob([new Uint8Array(Buffer.from(content as Buffer))]))
        await fetch(url, { method: 'PUT', body: form })
      })
      expect(contents).toEqual([Buffer.from(files['a.html']), files['b.bin']])
    }
  })

  test('curl -F', async () => {
    const { contents } = await receive(async (url) => {
      const manifest = String(uploadOf({ a: 'aaa', b: 'bbb' })[0]!.content)
      const form = [
        '--form-string',
        `manifest=${manifest}`,
        '-F',
        'object=aaa',
        '-F',
        'object=bbb;filename=b',
      ]
      const curl = spawn('curl', ['-s', '-X', 'PUT', ...form, url])
      await once(curl, 'exit')
    })
    expect(contents.map(String)).toEqual(['aaa', 'bbb'])
  })

  async function receive(send: (url: string) => Promise<void>): Promise<{ contents: Buffer[] }> {
    const received = Promise.withResolvers<Buffer[]>()
    const server: Server = createServer((request: IncomingMessage, response) => {
      const done = readUpload(request, request.headers['content-type'], parse).then(readAll)
      done.then(received.resolve, received.reject).finally(() => response.end())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const [contents] = await Promise.all([
        received.promise,
        send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
      ])
      return { contents }
    } finally {
      server.close()
    }
  }
})
