// `svc expose --allow-wallet` and `allow_wallets` at a real relay: who gets to the server behind, and what it sees.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { it as every, expect } from 'vitest'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { text, visit } from '../support/exposed.ts'
import { reported } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const it = wholeOnly(every, 'variant')

const alice = privateKeyToAccount(generatePrivateKey())
/** Resolves when the target has lost who reads its events. */
let eventsLeft: Promise<unknown>
const target = createServer((request, response) => {
  if (request.url !== '/events') return response.end(`wallet ${walletsOf(request.rawHeaders)}`)
  eventsLeft = once(response, 'close')
  return response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: one\n\n')
})
new WebSocketServer({ server: target }).on('connection', (socket, request) =>
  socket.send(`wallet ${walletsOf(request.rawHeaders)}`),
)
const own = useSvcAtRelay(target)
const { at, svc } = own

/** The values of every field that a server may take for the one with the address. */
function walletsOf(raw: readonly string[]): string {
  return raw.filter((_, at) => at % 2 === 1 && /^x.svc.wallet$/i.test(raw[at - 1]!)).join()
}

async function post(url: string, action: string, body: object, headers = {}) {
  const fields = { 'Content-Type': 'application/json', Origin: new URL(url).origin, ...headers }
  return visit(own.relay, url, `/.svc/wallet/${action}`, {
    method: 'POST',
    headers: fields,
    body: JSON.stringify(body),
  })
}

async function signIn(url: string): Promise<string> {
  const { message } = JSON.parse(await text(await post(url, 'challenge', { address: alice.address })))
  const answer = await post(url, 'sign-in', { message, signature: await alice.signMessage({ message }) })
  expect(answer.statusCode).toBe(200)
  return answer.headers['set-cookie']![0]!.split(';')[0]!
}

it('lets in who signed in with the wallet, and tells the server behind who that is', async () => {
  const run = svc('expose', own.port, '--name', 'club', '--allow-wallet', alice.address, ...at())
  const { url } = await reported(run, 'online')
  const forged = { 'X-Svc-Wallet': alice.address, X_SVC_WALLET: alice.address, Connection: 'X-Svc-Wallet' }
  expect((await visit(own.relay, url!, '/', { headers: forged })).statusCode).toBe(401)
  const Cookie = await signIn(url!)
  const answer = await visit(own.relay, url!, '/', { headers: { ...forged, 'X-Svc-Wallet': 'me', Cookie } })
  expect([answer.statusCode, await text(answer)]).toEqual([200, `wallet ${alice.address}`])
})

it('guards what is sold, too, and the paths with which visitors pay', async () => {
  const sale = ['--route', `/sold=${own.port} GET:0.01`, '--x402-pay-to', `0x${'5e'.repeat(32)}`]
  const facilitator = ['--x402-facilitator', 'http://127.0.0.1:1']
  const list = ['--allow-wallet', alice.address]
  const run = svc('expose', own.port, '--name', 'shop', ...list, ...sale, ...facilitator, ...at())
  const { url } = await reported(run, 'online')
  const statuses = (headers = {}) =>
    Promise.all(
      ['/sold', '/x402/client.js', '/x402/prepare'].map(
        async (path) => (await visit(own.relay, url!, path, { headers })).statusCode,
      ),
    )
  expect(await statuses()).toEqual([401, 401, 401])
  expect(await statuses({ Cookie: await signIn(url!) })).toEqual([402, 200, 405])
})

it('guards WebSockets, and closes them with the sign-out', async () => {
  const run = svc(
    'expose',
    own.port,
    '--name',
    'sockets',
    '--allow-wallet',
    alice.address.toLowerCase(),
    ...at(),
  )
  const { url } = await reported(run, 'online')
  const { host, hostname } = new URL(url!)
  const open = (headers: Record<string, string>): WebSocket => {
    const options: ClientOptions & { servername: string } = {
      ca: own.relay.ca,
      servername: hostname,
      headers: { Host: host, ...headers },
    }
    return new WebSocket(`wss://127.0.0.1:${own.relay.port}/`, [], options)
  }
  const [, refused] = await once(open({ 'X-Svc-Wallet': alice.address }), 'unexpected-response')
  expect(refused.statusCode).toBe(401)
  refused.destroy()
  const Cookie = await signIn(url!)
  const socket = open({ Cookie, 'x-svc_wallet': 'me' })
  expect(String((await once(socket, 'message'))[0])).toBe(`wallet ${alice.address}`)
  const closed = once(socket, 'close')
  expect((await post(url!, 'sign-out', {}, { Cookie })).statusCode).toBe(200)
  expect((await closed)[0]).toBe(1008)
  expect((await visit(own.relay, url!, '/', { headers: { Cookie } })).statusCode).toBe(401)
})

it('ends server-sent events with the sign-out, and the server behind notices', async () => {
  const run = svc('expose', own.port, '--name', 'events', '--allow-wallet', alice.address, ...at())
  const { url } = await reported(run, 'online')
  const Cookie = await signIn(url!)
  const events = await visit(own.relay, url!, '/events', { headers: { Cookie } })
  await once(events, 'readable')
  await post(url!, 'sign-out', {}, { Cookie })
  expect(await text(events)).toBe('data: one\n\n')
  await eventsLeft
})

it('guards the tunnel of a config file that names wallets, and its routes', async () => {
  const config = join(own.home, 'svc.toml')
  const lines = [
    `relay = "${own.relay.origin}"`,
    `ca = "${own.relay.caFile}"`,
    '[[tunnel]]',
    'name = "listed"',
    `routes = { "/api" = ${own.port} }`,
    `allow_wallets = ["${alice.address}"]`,
  ]
  await writeFile(config, lines.join('\n'))
  const { url } = await reported(svc('start', '--config', config, '--json'), 'online')
  expect((await visit(own.relay, url!, '/api')).statusCode).toBe(401)
  const Cookie = await signIn(url!)
  expect(await text(await visit(own.relay, url!, '/api', { headers: { Cookie } }))).toBe(
    `wallet ${alice.address}`,
  )
})

const WRONG_CHECKSUM = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
it.each<[string, string[], RegExp]>([
  ['a wrong checksum', ['3000', '--allow-wallet', WRONG_CHECKSUM], /wrong checksum/],
  ['what is no address', ['3000', '--allow-wallet', 'vitalik.eth'], /"vitalik.eth" is not an address/],
  ['a TLS server', ['--tls', '8443', '--allow-wallet', alice.address], /excludes tls, tcp, udp and cache/],
  ['a TCP service beside', ['3000', '--tcp', '22', '--allow-wallet', alice.address], /excludes tls, tcp/],
  ['an endpoint without wallets', ['3000', '--wallet-rpc', 'https://rpc.example'], /--wallet-rpc is for/],
  ['an invalid endpoint', ['3000', '--allow-wallet', alice.address, '--wallet-rpc', 'ws:x'], /rpc has to be/],
])('refuses %s in words, before it asks the relay', async (_what, args, message) => {
  const { ended, out } = svc('expose', ...args, '--name', 'wrong', ...at())
  expect(await ended).toBe(2)
  expect(JSON.parse(out.at(-1)!)).toMatchObject({ event: 'failed', message: expect.stringMatching(message) })
})

it('refuses a copy at the relay, which would show the files to everybody', async () => {
  const { ended, out } = svc(
    'serve',
    own.home,
    '--cache',
    '--allow-wallet',
    alice.address,
    '--name',
    'copy',
    ...at(),
  )
  expect(await ended).toBe(2)
  expect(out.at(-1)).toContain('excludes tls, tcp, udp and cache')
})
