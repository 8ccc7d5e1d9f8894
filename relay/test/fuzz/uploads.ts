// Fuzz target `uploads`: manifests and multipart bodies that are nearly right, or nothing at all, for the static cache. Each is
// refused with a sentence, or is what another parser of forms makes of it, and a manifest that passes has safe paths.

import { strictEqual } from 'node:assert/strict'
import {
  CACHE_PATH_MAX_CHARS,
  compareCachePaths,
  parseManifest,
  type StaticCacheManifest,
} from '@svc/protocol'
import fc from '../../../tools/fast-check.ts'
import { RelayError } from '../../src/core/errors.ts'
import { readUpload } from '../../src/features/static-cache/upload/multipart.ts'
import {
  BOUNDARY,
  bodyOf,
  CONTENT_TYPE,
  collect,
  inPieces,
  manifestOf,
  type TestPart,
} from '../support/multipart-body.ts'

/** Inputs tried at a time. */
const ROUND_RUNS = 50
/** Milliseconds for one input: bodies are small, and the machine may be busy with other things. */
const INPUT_MAX_MS = 2_000
const LIMITS = { maxExposureBytes: 100_000, maxObjectBytes: 50_000 }
/** A message repeats at most a part of a path, with its characters escaped. */
const MESSAGE_MAX_CHARS = 1_000

interface BodyInput {
  body: Buffer
  /** Sizes of the pieces in which it arrives, one after the other and again. */
  sizes: number[]
}

/** @throws Error with the input, on the first that is not treated as it has to be */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  let runs = 0
  for (let round = 0; goesOn(runs); round++) {
    const options = { numRuns: ROUND_RUNS, seed: (seed + round) | 0 }
    fc.assert(fc.property(manifests, inTime(checkManifest)), options)
    await fc.assert(
      fc.asyncProperty(bodies, async (input) => {
        const from = performance.now()
        await checkBody(input)
        requireTime(from)
      }),
      options,
    )
    runs += 2 * ROUND_RUNS
  }
  return { runs }
}

function inTime<T>(check: (input: T) => void): (input: T) => void {
  return (input) => {
    const from = performance.now()
    check(input)
    requireTime(from)
  }
}

function requireTime(from: number): void {
  const ms = performance.now() - from
  if (ms > INPUT_MAX_MS) throw new Error(`an input took ${ms.toFixed(0)} ms`)
}

function checkManifest(value: unknown): void {
  let manifest: StaticCacheManifest
  try {
    manifest = parseManifest(value, LIMITS)
  } catch (error) {
    const { name, message } = error as Error
    if (name !== 'Error' || message.length > MESSAGE_MAX_CHARS || /\p{Cc}/u.test(message))
      throw new Error(`the error is ${name}: ${message}`)
    return
  }
  checkFiles(manifest)
}

/** Checks what is true of every manifest that passes, by the simplest means. */
function checkFiles({ index, files }: StaticCacheManifest): void {
  const paths = files.map(({ path }) => path)
  if (!paths.includes(index)) throw new Error('the index is not listed')
  if (paths.join('\0') !== [...new Set(paths)].sort(compareCachePaths).join('\0'))
    throw new Error('the paths are not sorted')
  for (const path of paths) {
    // A browser that follows a link to the file asks for it, and for nothing else.
    const { pathname } = new URL(path.split('/').map(encodeURIComponent).join('/'), 'https://site.example/')
    strictEqual(decodeURIComponent(pathname), `/${path}`)
    // Nor does a reader that decodes once more, or takes a backslash for a slash, leave the directory.
    const segments = decodeLoosely(path).replaceAll('\\', '/').split('/')
    if (path.length > CACHE_PATH_MAX_CHARS || segments.some((segment) => ['', '.', '..'].includes(segment)))
      throw new Error(`the path ${JSON.stringify(path)} is not safe`)
    if (paths.some((other) => other.startsWith(`${path}/`))) throw new Error(`${path} is a directory too`)
  }
}

function decodeLoosely(path: string): string {
  return path.replace(/%([\da-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}

async function checkBody({ body, sizes }: BodyInput): Promise<void> {
  let next = 0
  const pieces = inPieces(body, () => sizes[next++ % sizes.length]!)
  let contents: Buffer[]
  try {
    contents = await readContents(pieces)
  } catch (error) {
    if (error instanceof RelayError && error.code === 'invalid_request') return
    throw error
  }
  // It was taken: another parser finds the same, if it takes the body too.
  const form = await new Response(new Uint8Array(body), { headers: { 'Content-Type': CONTENT_TYPE } })
    .formData()
    .catch(() => undefined)
  if (form === undefined) return
  const theirs = await Promise.all(form.getAll('object').map(contentOf))
  if (contents.length !== theirs.length || !contents.every((one, number) => isSame(one, theirs[number]!)))
    throw new Error('another parser finds other contents')
}

async function readContents(body: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const contents: Buffer[] = []
  const parse = (value: unknown): StaticCacheManifest => parseManifest(value, LIMITS)
  const { manifest, objects } = await readUpload(body, CONTENT_TYPE, parse)
  for await (const object of objects) contents.push(await collect(object))
  strictEqual(contents.length, manifest.files.length)
  return contents
}

async function contentOf(entry: string | Blob): Promise<string | Buffer> {
  return typeof entry === 'string' ? entry : Buffer.from(await entry.arrayBuffer())
}

/** A part without a file name is text for the other parser, which replaces what is no UTF-8. */
function isSame(ours: Buffer, theirs: string | Buffer): boolean {
  return typeof theirs === 'string' ? String(ours) === theirs : ours.equals(theirs)
}

const SEGMENTS = [
  'a',
  'b.html',
  '.',
  '..',
  '',
  'CON',
  'nul.txt',
  'x:y',
  'end.',
  'end ',
  'ä',
  'a\u0308',
  '\ud800',
]
const PIECES = [
  ...SEGMENTS,
  '/',
  '/',
  '\\',
  '\0',
  '%',
  '%2e',
  '%2F',
  '%5c',
  '%00',
  '%25',
  '%252e',
  '\u2028',
  '?',
  '#',
]

const safePath = fc
  .array(fc.constantFrom('a', 'b', 'c.html', 'd-e', '50%', '日本'), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join('/'))
const path = fc.oneof(
  { weight: 3, arbitrary: safePath },
  fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    'x'.repeat(CACHE_PATH_MAX_CHARS),
    'x/'.repeat(CACHE_PATH_MAX_CHARS / 2),
    'x'.repeat(100_000),
  ),
)
const hash = fc.constantFrom('ab', 'cd', 'AB', '0').map((digits) => digits.repeat(32))
const size = fc.oneof(fc.nat(60_000), fc.constantFrom(-1, 0.5, Number.NaN, 2 ** 53, '1', null))
const file = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({ path, size, sha256: hash }, { requiredKeys: ['path', 'size', 'sha256'] }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)
/** Half of them have sorted files without another fault, so that the rest of the manifest is looked at too. */
const files = fc.oneof(
  fc.array(file, { maxLength: 8 }),
  fc
    .uniqueArray(fc.oneof({ weight: 12, arbitrary: safePath }, path), { maxLength: 8 })
    .map((paths) =>
      paths.sort(compareCachePaths).map((one) => ({ path: one, size: 1, sha256: 'ab'.repeat(32) })),
    ),
)
const manifests = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(files, fc.nat(12), path)
      .map(([list, at, other]) => ({ index: pathAt(list, at) ?? other, files: list })),
  },
  { weight: 1, arbitrary: fc.anything() },
)

function pathAt(list: readonly unknown[], at: number): unknown {
  const one = list[at % Math.max(1, list.length)]
  return typeof one === 'object' && one !== null && 'path' in one ? one.path : undefined
}

const CONTENTS = [
  '',
  'x',
  '\r\n',
  '--',
  '\r\n--',
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY.slice(0, -1)}`,
  '\0',
  'ä',
]
const content = fc
  .array(fc.constantFrom(...CONTENTS, 'y'.repeat(300)), { maxLength: 5 })
  .map((list) => list.join(''))
const HEADERS = [
  'Content-Disposition: form-data; name="object"; filename="blob"',
  'content-disposition: form-data; name=object; filename="a\\"b"',
  'Content-Disposition: form-data; name="manifest"',
  'Content-Disposition: form-data',
  'Content-Disposition: attachment; name="object"',
  'Content-Type: application/octet-stream',
  'Content-Transfer-Encoding: base64',
  'Content-Transfer-Encoding: 8bit',
  ' folded',
  'no colon',
  `X: ${'z'.repeat(6_000)}`,
  '',
]
const strange: fc.Arbitrary<TestPart> = fc.record({
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 12 }).map((lines) => lines.join('\r\n')),
  content,
})
/** A right upload, some of whose parts are left out, doubled, moved or replaced. */
const parts = fc
  .tuple(
    fc.array(content, { minLength: 1, maxLength: 5 }),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      fc.array(fc.tuple(fc.nat(6), fc.nat(2), strange), { maxLength: 3 }),
    ),
  )
  .map(([contents, changes]) => {
    const named = Object.fromEntries(contents.map((one, number) => [`${number}`, one]))
    const right: TestPart[] = contents.map((one) => ({ headers: HEADERS[0]!, content: one }))
    right.unshift({ headers: HEADERS[2]!, content: JSON.stringify(manifestOf(named)) })
    for (const [at, removed, part] of changes) right.splice(at, removed, part)
    return right
  })
const mutations = fc.array(
  fc.record({ at: fc.nat(5_000), byte: fc.constantFrom(0, 10, 13, 34, 45, 58, 255) }),
  { maxLength: 3 },
)
const ends = fc.constantFrom(
  ...Array.from({ length: 4 }, () => `--${BOUNDARY}--\r\n`),
  `--${BOUNDARY}--`,
  `--${BOUNDARY}-`,
  '',
  'epilogue',
)
const bodies: fc.Arbitrary<BodyInput> = fc.record({
  body: fc
    .tuple(parts, ends, fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, mutations), fc.nat(40))
    .map(([list, end, changes, cut]) => {
      const body = bodyOf(list, end)
      for (const { at, byte } of changes) body[at % body.length] = byte
      return cut === 0 ? body.subarray(0, body.length >> 1) : body
    }),
  sizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1_000, max: 65_536 })), {
    minLength: 1,
    maxLength: 5,
  }),
})
