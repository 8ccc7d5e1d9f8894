// Visitors who want what a site sells without paying: through the relay they spell its path, and replace its method, in each way that some
// platform or framework takes for the priced one. The site of the attackers has a handler that takes them all.
import { randomBytes } from 'node:crypto'
import { Agent, request as httpsRequest } from 'node:https'
import { publish } from '@svc/sdk-node'
import { paid } from '@svc/sdk-node/handlers'
import { leadsTo, methodsOf } from '../../tools/lenient-backend.ts'
import type { Random } from '../soak/random.ts'
import type { ClientAttack, Facts } from './attack.ts'
import { addressOf, type Target } from './target.ts'

const VISITORS = 8
/** Parts of which paths are made at random, before and behind the priced one, and the ways to write that. */
const AROUND = [
  '',
  '/',
  '//',
  '/.',
  '/x/..',
  '/x%2f..',
  '/%2e',
  '/x;/..;',
  '%5c',
  '/index.php',
  '/x/%252e%252e',
  '/..%c0%af',
]
const PRICED = [
  '/paid',
  '/PAID',
  '/%70aid',
  '/%2570aid',
  '/%u0070aid',
  '/%c1%b0aid',
  '/pa%E2%80%8Bid',
  '/p%C3%A0id',
  '/pa%C4%B1d',
]
const BEHIND = [
  '',
  '/',
  '/x',
  '.',
  '%20',
  '%00',
  ';a',
  '::$DATA',
  '%3fx',
  '%23x',
  '%2f',
  '?x',
  '/%2e',
  '%EF%BB%BF',
  '%5c',
]
const FIELDS = ['x-http-method-override', 'x-http-method', 'x-method-override', 'x_http_method_override']
const VALUES = ['GET', 'get', 'GET,x', ' GET', 'GET\t', 'HEAD']
const QUERIES = ['?_method=GET', '?%5fmethod=GET', '?X-HTTP-Method-Override=GET']
const FORMS = ['_method=GET', 'a=b&%5Fm%65thod=GET', '.method=GET', '[method=GET']

export const attack: ClientAttack = {
  by: 'clients',
  what: 'visitors want what is sold, and pay nothing',
  seconds: 20,
  sliceSeconds: 2,
  least: { requests: 200, 'of them for what is sold': 150 },
  most: { 'answers that nobody paid': 0 },
  run,
}

async function run(target: Target, begin: () => number, random: Random): Promise<Facts> {
  const facts = { requests: 0, 'of them for what is sold': 0, 'answers that nobody paid': 0 }
  const handler = paid(
    async (request) => {
      const url = new URL(request.url)
      const { method, headers } = request
      const methods = methodsOf({ method, headers, url, body: await request.text() })
      if (leadsTo(url.pathname, '/paid') && methods.has('GET')) facts['answers that nobody paid'] += 1
      return new Response('an answer')
    },
    {
      payTo: `0x${'5e'.repeat(32)}`,
      facilitator: 'https://facilitator.invalid', // nobody pays, so that nobody asks it
      routes: [
        { path: '/paid', methods: ['GET'], amount: '0.01' },
        { path: '/paid', methods: ['POST'], amount: 'free' },
      ],
    },
  )
  const identity = new Uint8Array(randomBytes(32))
  const site = await publish({ relay: target.url, ca: target.ca, name: 'sold', identity, fetch: handler })
  const until = begin()
  const visit = async (visitor: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (Date.now() < until) {
      const way = { agent, localAddress: addressOf(visitor) }
      const status = await ask(target, new URL(site.url).hostname, random, way)
      facts.requests += 1
      if (status === 402 || status === 400) facts['of them for what is sold'] += 1
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: VISITORS }, (_, visitor) => visit(visitor)))
  await site.close()
  return facts
}

/** @returns the status; 0 when the connection broke */
function ask(
  target: Target,
  host: string,
  random: Random,
  way: { agent: Agent; localAddress: string },
): Promise<number> {
  const from = <T>(of: readonly T[]): T => random.of(of)
  const path = `/${from(AROUND)}${from(PRICED)}${from(BEHIND)}`.replace(/^\/+/, '/')
  const [suffix, headers, body] = from([
    ['', {}, undefined],
    ['', { [from(FIELDS)]: from(VALUES) }, ''],
    [from(QUERIES), {}, ''],
    ['', { 'content-type': 'application/x-www-form-urlencoded' }, from(FORMS)],
  ] as const)
  return new Promise((resolve) => {
    const request = httpsRequest({
      ...{ host: '127.0.0.1', port: target.port, servername: host, ca: target.ca, ...way },
      method: body === undefined ? 'GET' : 'POST',
      path: path.includes('?') ? path : path + suffix,
      headers: { host: `${host}:${target.port}`, ...headers, ...(body && { 'content-length': body.length }) },
    })
    request.on('response', (response) => {
      response.resume().on('close', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}
