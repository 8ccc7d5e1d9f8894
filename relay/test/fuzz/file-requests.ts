// Requests for files: right ones, nearly right ones, and anything at all.

import fc from '../../../tools/fast-check.ts'
import { PUBLIC_NAMES, SECRET_NAMES } from './public-folder.ts'

const NAMES = [...PUBLIC_NAMES, ...SECRET_NAMES]

const segment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES.flatMap((name) => name.split('/')), 'site') },
  fc.constantFrom('', '.', '..', '...', '.\0', '~1', 'index', 'a\\b', 'c:', 'con', 'x'.repeat(300)),
  fc.string({ maxLength: 3, unit: 'binary' }),
)
const separator = fc.oneof(
  { weight: 8, arbitrary: fc.constant('/') },
  fc.constantFrom('//', '\\', '/./', '/../'),
)
const made = fc
  .array(fc.tuple(separator, segment), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map(([by, name]) => by + name).join(''))

/** How each octet of a path is written, by turns. */
const ways = fc.oneof(fc.constant([-1]), fc.array(fc.nat(11), { minLength: 1, maxLength: 8 }))

/** Each octet as it is, or in one of the ways that a percent sign allows (RFC 3986 §2.1), or in one that it does not. */
function encode(text: string, ways: readonly number[]): string {
  return [...Buffer.from(text)]
    .map((octet, index) => {
      const character = String.fromCharCode(octet)
      const hex = octet.toString(16).padStart(2, '0')
      switch (ways[index % ways.length]) {
        case 0:
          return `%${hex}`
        case 1:
          return `%${hex.toUpperCase()}`
        case 2:
          return `%25${hex}`
        case 3:
          return character === '.' ? '%c0%ae' : `%${hex}`
        default:
          return /[\w./~:\\-]/.test(character) ? character : `%${hex}`
      }
    })
    .join('')
}

/** As it stands in a request line: with a slash at its beginning, and with a query or an ending behind it. */
export const paths: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...NAMES).map((name) => `/${name}`),
      made,
    ),
    ways,
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      fc.constantFrom('/', '?', '?a=../.env', '#x', '.html', '.gz', '.br'),
    ),
  )
  .map(([name, ways, end]) => encode(name, ways) + end)
  .map((path) => (path.startsWith('/') ? path : `/${path}`))

const number = fc.oneof(fc.nat(30), fc.nat(2000), fc.constantFrom(-1, 2 ** 31, 2 ** 53, 10 ** 15, 10 ** 20))
const oneRange = fc.oneof(
  fc.tuple(number, number).map(([from, to]) => `${from}-${to}`),
  number.map((from) => `${from}-`),
  number.map((last) => `-${last}`),
  fc.constantFrom('', '-', '0-0', '--1', '1-1-1', 'a-b', ' 0 - 1 ', '0-0'.repeat(50)),
)
const range = fc
  .tuple(fc.constantFrom('bytes', 'Bytes', 'items', 'bytes ', ''), fc.array(oneRange, { maxLength: 4 }))
  .map(([unit, ranges]) => `${unit}=${ranges.join(',')}`)
const date = fc.oneof(
  fc.date({ noInvalidDate: true }).map((one) => one.toUTCString()),
  fc.constantFrom('', 'yesterday', '0', 'Thu, 01 Jan 1970 00:00:00 GMT', 'x'.repeat(2000)),
)
const tag = fc.oneof(
  fc.constantFrom('*', '""', 'W/"a"', '"a", "b"', '"', 'W/', '"a",'.repeat(500)),
  fc.base64String(),
)
const coding = fc.constantFrom(
  'gzip',
  'br',
  '*',
  'gzip;q=0',
  'br;q=1.5',
  ';q=',
  'gzip;q=.5,*;q=0',
  ',;q='.repeat(500),
)

/** Name and value. */
export const fields: fc.Arbitrary<[string, string]> = fc.oneof(
  fc.tuple(fc.constant('Range'), range),
  fc.tuple(fc.constantFrom('If-None-Match', 'If-Match', 'If-Range'), tag),
  fc.tuple(fc.constantFrom('If-Modified-Since', 'If-Unmodified-Since', 'If-Range'), date),
  fc.tuple(fc.constant('Accept-Encoding'), coding),
)
export const methods: fc.Arbitrary<string> = fc.oneof(
  { weight: 10, arbitrary: fc.constant('GET') },
  fc.constantFrom('HEAD', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND'),
)
