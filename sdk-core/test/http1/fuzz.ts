// Fuzzes the request parser against Node's: what this server takes for a request, Node has to take for the same one.

import { METHODS } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import fc from '../../../tools/fast-check.ts'
import { readByNode, readByUs } from './readers.ts'

/** Requests tried at a time. */
const ROUND_RUNS = 200

/** Fuzzes as long as `goesOn` says so of the runs that were made. Throws, with the bytes, on the first difference. */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  let runs = 0
  for (let round = 0; goesOn(runs); round++) {
    await fc.assert(fc.asyncProperty(input, check), { numRuns: ROUND_RUNS, seed: seed + round })
    runs += ROUND_RUNS
  }
  return { runs }
}

/** @throws Error when we understand what Node refuses or understands otherwise */
export async function check({ bytes, cuts }: { bytes: Uint8Array; cuts: number[] }): Promise<void> {
  const ours = await readByUs(cut(bytes, cuts))
  const directly = await readByUs(cut(bytes, cuts), 'direct')
  if (!isDeepStrictEqual(ours, directly))
    throw new Error(`${JSON.stringify(ours)} is ${JSON.stringify(directly)} on the direct way`)
  // Node's parser knows a list of methods; any token is one here (RFC 9110 §9.1).
  if (ours.length === 0 || ours.some(({ method }) => !METHODS.includes(method))) return
  const theirs = await readByNode(bytes)
  if (isDeepStrictEqual(ours, theirs.slice(0, ours.length))) return
  const text = JSON.stringify(Buffer.from(bytes).toString('latin1'))
  throw new Error(`${text} is ${JSON.stringify(ours)} to us, ${JSON.stringify(theirs)} to Node`)
}

const oneOf = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const mostly = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 15, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: oneOf(...others) })

const lineEnd = fc.oneof(
  { weight: 150, arbitrary: fc.constant('\r\n') },
  oneOf('\n', '\r', '\r\r\n', '\n\r', '\r\n '),
)
const method = mostly(
  'POST',
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'QUERY',
  'M-SEARCH',
  'CONNECT',
  'TRACE',
  'get',
  'BREW',
)
const target = mostly(
  '/',
  '*',
  '/a?b=c',
  '//x',
  'https://site.example/a',
  'http://a',
  '/#a',
  'a',
  '/%',
  '/\\',
  '/"|',
  '/\xe4',
)
const version = mostly('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.', '')
const framing = oneOf(
  '',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: 05',
  'content-length:5',
  'Content-Length: +5',
  'Content-Length: 5,5',
  'Content-Length: 5\t',
  'Content-Length : 5',
  'Transfer-Encoding: chunked',
  'transfer-encoding:CHUNKED',
  'Transfer-Encoding: chunked ',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: chunked\t',
)
const field = oneOf(
  'A: b',
  'A:',
  'A: \t b \t',
  'A : b',
  ' A: b',
  'A: \xa0\xff',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Expect: 100-continue',
  'Host: site.example:443',
  'Trailer: a',
  "!#$%&'*+-.^_`|~: a",
  'A"B: c',
)
const body = oneOf(
  'hello',
  '',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\n\r\n',
  '05\r\nhello\r\n0;a\r\nA: b\r\n\r\n',
  '5;a="b;\\"c"\r\nhello\r\n0\r\n\r\n',
  '2\r\nhe\r\n3\r\nllo\r\n000\r\n\r\n',
  '5\r\nhello\r\n0\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '5\nhello\r\n0\r\n\r\n',
)
/** Half of them fit together. */
const framed = fc.oneof(
  fc.tuple(framing, body),
  oneOf<[string, string]>(
    ['A: b', ''],
    ['Content-Length: 5', 'hello'],
    ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ['Transfer-Encoding: chunked', '2;a=b\r\nhe\r\n3\r\nllo\r\n00;c\r\nA: b\r\n\r\n'],
  ),
)
const request = fc
  .record({
    start: fc.tuple(
      mostly('', '\r\n', '\n', ' '),
      method,
      mostly(' ', '  ', '\t'),
      target,
      mostly(' ', '  '),
      version,
    ),
    framed,
    fields: fc.array(fc.oneof({ weight: 5, arbitrary: field }, framing), { maxLength: 3 }),
    host: mostly('Host: site.example', 'Host: a b', 'Host: [::1]', 'Host:', 'Host: site.example\r\nHost: a'),
    ends: fc.array(lineEnd, { minLength: 8, maxLength: 8 }),
  })
  .map(({ start, framed: [framing, body], fields, host, ends }) =>
    [start.join(''), host, framing, ...fields, '', '']
      .map((line, i, { length }) => (i < length - 1 ? line + ends[i] : body))
      .join(''),
  )

/** Octets that parsers treat specially, and some that they should not. */
const octet = fc.oneof(oneOf(0, 9, 10, 11, 13, 32, 34, 44, 48, 58, 59, 61, 92, 127, 160, 255), fc.nat(255))
const mutation = fc.record({ at: fc.nat(), remove: fc.nat(2), insert: fc.array(octet, { maxLength: 2 }) })

const input = fc
  .record({
    requests: fc.array(request, { minLength: 1, maxLength: 3 }),
    mutations: fc.array(mutation, { maxLength: 3 }),
    cuts: fc.array(fc.nat(), { maxLength: 4 }),
  })
  .map(({ requests, mutations, cuts }) => {
    const octets = [...Buffer.from(requests.join(''), 'latin1')]
    for (const { at, remove, insert } of mutations) octets.splice(at % octets.length, remove, ...insert)
    return { bytes: Uint8Array.from(octets), cuts }
  })

/** The bytes in pieces: where they are cut must not matter. */
function cut(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const at = cuts.map((value) => value % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...at]
    .map((start, i) => bytes.subarray(start, at[i] ?? bytes.length))
    .filter((piece) => piece.length > 0)
}
