// The features of the comparison, by their path in runtimes/handler.mjs.
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { ask, open, type Server } from './ask.ts'
import { type Feature, get, requestOf, words } from './feature.ts'

const BOUNDARY = 'XX'
const FORM = [
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n`,
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\nhello\r\n--${BOUNDARY}--\r\n`,
].join('')
const CHUNKED = '3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n'
/** Looks for what a server does after an answer, and milliseconds between two. */
const LOOKS = 20
const LOOK_MS = 250
/** A masked text frame with "hi", RFC 6455 §5.2, and what comes back. */
const HI = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]).toString('latin1')
const HI_BACK = Buffer.from([0x81, 0x02, 0x68, 0x69])
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

export const FEATURES: readonly Feature[] = [
  { name: 'text', observe: get('/text', ['content-type', 'content-length']) },
  {
    name: '`Response.json`',
    observe: get('/json', ['content-type', 'content-length']),
    why: { 'Bun.serve': 'Bun adds a charset.' },
  },
  {
    name: 'a stream',
    observe: get('/stream', ['content-length', 'transfer-encoding']),
    why: {
      'Deno.serve': '`publish` waits a moment for a short body, so that it has a length.',
      workerd: '`publish` waits a moment for a short body, so that it has a length.',
    },
  },
  {
    name: 'a `Blob`',
    observe: get('/blob', ['content-type', 'content-length']),
    why: {
      'Deno.serve': 'Deno sends a `Blob` as a stream.',
      'Bun.serve': 'Bun adds a charset.',
    },
  },
  { name: '`URLSearchParams`', observe: get('/form', ['content-type', 'content-length']) },
  { name: 'HEAD of text', observe: get('/text', ['content-length'], { method: 'HEAD' }) },
  {
    name: 'HEAD of a `Blob`',
    observe: get('/blob', ['content-length'], { method: 'HEAD' }),
    why: { 'Deno.serve': 'As for GET.' },
  },
  { name: 'two `Set-Cookie`', observe: get('/cookies', ['set-cookie']) },
  {
    name: "`Response.redirect('/x')`",
    observe: get('/redirect-relative', ['location']),
    why: {
      'Deno.serve': 'Deno and workerd take absolute URLs alone.',
      'Bun.serve': 'Bun sends the URL as the handler gave it.',
      workerd: 'Deno and workerd take absolute URLs alone.',
    },
  },
  { name: '`Response.redirect` elsewhere', observe: get('/redirect-absolute', ['location']) },
  {
    name: 'status text',
    observe: async (server) => (await visit(server, '/reason')).reason || 'none',
    why: { 'Deno.serve': 'They send words of their own.', 'Bun.serve': 'They send words of their own.' },
  },
  { name: '204', observe: get('/204', ['content-length', 'transfer-encoding']) },
  { name: '304 with an ETag', observe: get('/304', ['etag', 'content-length']) },
  {
    name: 'gzip by the handler',
    observe: gzip,
    why: { workerd: "workerd compresses the body again, unless the `Response` has `encodeBody: 'manual'`." },
  },
  {
    name: '`Content-Length` too long',
    observe: get('/long', ['content-length']),
    why: {
      'Deno.serve': '`publish` tells the owner of the fault; the others replace the length.',
      'Bun.serve': '`publish` tells the owner of the fault; the others replace the length.',
      workerd: '`publish` tells the owner of the fault; the others replace the length.',
    },
  },
  {
    name: '`Content-Length` too short',
    observe: get('/short', ['content-length']),
    why: {
      'Deno.serve': '`publish` tells the owner of the fault; the others replace the length.',
      'Bun.serve': '`publish` tells the owner of the fault; the others replace the length.',
      workerd: '`publish` tells the owner of the fault; the others replace the length.',
    },
  },
  { name: '`Response.error()`', observe: get('/error') },
  { name: 'the handler throws', observe: get('/throw') },
  {
    name: 'the handler returns nothing',
    observe: get('/nothing'),
    why: { 'Bun.serve': 'Bun answers for the handler.' },
  },
  {
    name: 'a stream that fails',
    observe: get('/broken'),
    why: {
      'Deno.serve':
        '`publish` waits a moment for the body before it sends the status; the others have sent it or close.',
      'Bun.serve':
        '`publish` waits a moment for the body before it sends the status; the others have sent it or close.',
      workerd:
        '`publish` waits a moment for the body before it sends the status; the others have sent it or close.',
    },
  },
  { name: 'a kept `Response`, the second time', observe: second },
  {
    name: "a `Response` of npm's undici",
    observe: get('/other'),
    why: {
      'Deno.serve': 'Deno and Bun take their own class alone.',
      'Bun.serve': 'Deno and Bun take their own class alone.',
    },
  },
  {
    name: 'the URL of a request',
    observe: get('/url?a=b'),
    why: {
      'Deno.serve': 'The others are asked without TLS.',
      'Bun.serve': 'The others are asked without TLS.',
      workerd: 'The others are asked without TLS.',
    },
  },
  { name: 'a method of its own', observe: get('/method', [], { method: 'PROPFIND' }) },
  { name: 'a field twice', observe: get('/fields', [], { lines: ['X-Field: 1', 'X-Field: 2'] }) },
  { name: "the request's body as a stream", observe: chunked },
  {
    name: '`request.formData()`',
    observe: post('/read-form', FORM, [`Content-Type: multipart/form-data; boundary=${BOUNDARY}`]),
  },
  { name: '`request.json()`', observe: post('/read-json', '{"hello":"hello"}') },
  {
    name: '`Expect: 100-continue`',
    observe: post('/read-text', 'hello', ['Expect: 100-continue']),
    why: {
      'Deno.serve': 'The body came with the head, when a server may leave out the 100 (RFC 9110 §10.1.1).',
      'Bun.serve': 'The body came with the head, when a server may leave out the 100 (RFC 9110 §10.1.1).',
    },
  },
  { name: 'an answer before the body came', observe: early },
  {
    name: '`request.signal` when the visitor leaves',
    observe: leave,
    why: { workerd: 'The signal of workerd stayed as it was, also with its flag `enable_request_signal`.' },
  },
  {
    name: 'a WebSocket: `info.upgrade`, `Deno.upgradeWebSocket`, `server.upgrade`, `WebSocketPair`',
    observe: upgrade,
  },
  { name: '`waitUntil`, of `info` or `ctx`', observe: work },
  { name: "the visitor's address", observe: get('/address') },
]

function post(target: string, body: string, lines: string[] = []): Feature['observe'] {
  return get(target, [], { method: 'POST', body, lines })
}

function visit(server: Server, target: string) {
  return ask(server, requestOf(server, target, {}))
}

async function gzip(server: Server): Promise<string> {
  const answer = await ask(server, requestOf(server, '/gzip', { lines: ['Accept-Encoding: gzip'] }))
  const [, coding] = answer.fields.find(([name]) => name === 'content-encoding') ?? []
  const text = coding === 'gzip' ? gunzipSync(answer.body) : answer.body
  return `${answer.status}, content-encoding: ${coding ?? 'none'}, ${text.includes('hello') ? '"hello"' : 'compressed twice'}`
}

async function second(server: Server): Promise<string> {
  await visit(server, '/kept')
  return words(server, await visit(server, '/kept'), [])
}

async function chunked(server: Server): Promise<string> {
  const head = { method: 'POST', lines: ['Transfer-Encoding: chunked'] }
  return words(server, await ask(server, requestOf(server, '/read-stream', head) + CHUNKED), [])
}

/** Says that much will come, and sends nothing of it. */
async function early(server: Server): Promise<string> {
  const head = requestOf(server, '/early', { method: 'POST', lines: ['Content-Length: 1000000'] })
  return words(server, await ask(server, head, (bytes) => bytes.includes('hello')), [])
}

async function leave(server: Server): Promise<string> {
  const socket = await open(server)
  socket.write(requestOf(server, '/hang', {}))
  await delay(LOOK_MS)
  socket.destroy()
  return (await becomes(server, '/was-aborted')) ? 'aborts' : 'does not abort'
}

async function upgrade(server: Server): Promise<string> {
  const head = requestOf(server, '/upgrade', { lines: UPGRADE }).replace('Connection: close\r\n', '')
  const answer = await ask(server, head + HI, (bytes) => bytes.includes(HI_BACK))
  return `${answer.status}, ${answer.body.includes(HI_BACK) ? 'echo' : 'no echo'}`
}

async function work(server: Server): Promise<string> {
  const answer = await visit(server, '/work')
  if (answer.status !== 200) return words(server, answer, [])
  return (await becomes(server, '/was-done')) ? 'runs' : 'does not run'
}

async function becomes(server: Server, target: string): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    if (String((await visit(server, target)).body) === 'true') return true
    await delay(LOOK_MS)
  }
  return false
}
