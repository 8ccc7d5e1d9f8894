// Paid routes through a real tunnel: a real relay, facilitator and local chain, curl, and the client of the reference library.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { curl } from '../../../tools/programs/curl.ts'
import { type RunningSuiNode, startSuiNode } from '../../../tools/sui-node/server.ts'
import { createTestWallet, type TestWallet } from '../../../tools/sui-node/wallet.ts'
import { expose } from '../../src/index.ts'
import { exposeAt, listening } from '../support/exposed.ts'
import { referenceClient, tunnelFetch } from '../support/paying.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
const PAY_TO = `0x${'5e'.repeat(32)}`
const CENT = 10_000n

let relay: TestRelay
let chain: RunningSuiNode
let target: Server
let targetPort: number
let home: string
let wallet: TestWallet
let run: Run
let site: string
const served: string[] = []

beforeAll(async () => {
  chain = await startSuiNode({ network: 'sui:testnet' })
  home = await mkdtemp(join(tmpdir(), 'svc-paid-'))
  relay = await startTestRelay({
    X402_ENABLED: 'true',
    X402_TESTNET: 'true',
    X402_PAY_TO: PAY_TO,
    X402_ENDPOINTS: chain.url,
  })
  target = createServer((request, response) => {
    served.push(`${request.method} ${request.url}`)
    const status = request.url === '/paid/broken' ? 500 : 200
    response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`target ${request.url}`)
  })
  new WebSocketServer({ server: target }).on('connection', (socket) => socket.send('paid words'))
  targetPort = await listening(target)
  wallet = createTestWallet()
  chain.node.chain.fund(wallet.address, 100n * CENT)
  run = runHere(home, [
    ...[
      'expose',
      String(targetPort),
      '--json',
      '--name',
      'shop',
      '--relay',
      relay.origin,
      '--ca',
      relay.caFile,
    ],
    ...['--route', `/paid=${targetPort} GET:0.01 POST:free`, '--route', `/docs=${targetPort}`],
    ...['--x402-pay-to', PAY_TO, '--x402-network', 'sui:testnet'],
    ...['--x402-facilitator', 'self', '--x402-endpoints', chain.url],
  ])
  site = (await reported(run, 'online')).url!.replace(/\/$/, '')
})
afterAll(async () => {
  await run?.stop()
  await chain?.close()
  target?.closeAllConnections()
  target?.close()
  await relay?.close()
  await rm(home, { recursive: true })
})
afterEach(() => {
  vi.unstubAllGlobals()
  served.length = 0
})

const earned = (): bigint => chain.node.chain.balance(PAY_TO)
const resolve = (): string[] => ['--resolve', `${new URL(site).host}:127.0.0.1`]

async function payment(
  path: string,
): Promise<{ headers: Record<string, string>; client: ReturnType<typeof referenceClient> }> {
  const client = referenceClient(site, path, wallet, tunnelFetch(relay))
  const unpaid = await tunnelFetch(relay)(site + path)
  const required = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json())
  return { headers: client.encodePaymentSignatureHeader(await client.createPaymentPayload(required)), client }
}

describe('svc expose --route "/paid=PORT GET:0.01"', () => {
  it('curl is told the price, and gets what is free', async () => {
    const answer = (
      await curl(relay.caFile, ...resolve(), '--include', '--http1.1', `${site}/paid`)
    ).toString()
    expect(answer).toMatch(/^HTTP\/1\.1 402 /)
    expect(answer).toMatch(/^payment-required: e/im)
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      x402Version: 2,
      accepts: [{ network: 'sui:testnet', amount: '10000', payTo: PAY_TO }],
    })
    expect((await curl(relay.caFile, ...resolve(), `${site}/docs`)).toString()).toBe('target /docs')
    const post = ['--data', 'x', `${site}/paid`]
    expect((await curl(relay.caFile, ...resolve(), ...post)).toString()).toBe('target /paid')
    expect(served).toEqual(['GET /docs', 'POST /paid'])
    // without the client's own clean-up of paths
    const spelled = ['--path-as-is', '--output', '-', '--write-out', ' %{http_code}']
    for (const path of ['//paid', '/%70aid', '/x/..;/paid', '/paid%2fx', '/x/../paid'])
      expect((await curl(relay.caFile, ...resolve(), ...spelled, site + path)).toString()).toMatch(/402$/)
    expect(served).toHaveLength(2)
  })

  it('the client of the reference library pays, and gets what it paid for, once', async () => {
    const before = earned()
    const { headers, client } = await payment('/paid/a')
    const response = await tunnelFetch(relay)(`${site}/paid/a?q=1`, { headers })
    expect([response.status, await response.clone().text()]).toEqual([200, 'target /paid/a?q=1'])
    expect(client.getPaymentSettleResponse((name) => response.headers.get(name))).toMatchObject({
      success: true,
      payer: wallet.address,
      network: 'sui:testnet',
    })
    expect(earned() - before).toBe(CENT)
    const again = await tunnelFetch(relay)(`${site}/paid/a`, { headers })
    expect(again.status).toBe(402)
    expect(earned() - before).toBe(CENT)
    expect(served).toEqual(['GET /paid/a?q=1'])
    // before it was answered it was on disk, for its owner alone
    const journal = join(home, 'svc', 'payments-sui-testnet.jsonl')
    expect(await readFile(journal, 'utf8')).toContain('"success":true')
    expect((await stat(journal)).mode & 0o077).toBe(0)
  })

  it('an error of the server behind it is free', async () => {
    const before = earned()
    const { headers } = await payment('/paid/broken')
    expect((await tunnelFetch(relay)(`${site}/paid/broken`, { headers })).status).toBe(500)
    expect(earned() - before).toBe(0n)
  })

  it('a WebSocket is paid for when it is opened', async () => {
    const connect = (headers: Record<string, string>): WebSocket =>
      new WebSocket(`${site.replace('https', 'wss')}/paid/live`, {
        headers,
        ca: relay.ca,
        lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }] as never),
      })
    const refused = await new Promise<number>((resolve, reject) => {
      connect({})
        .on('unexpected-response', (_, { statusCode }) => resolve(statusCode!))
        .on('error', reject)
    })
    expect(refused).toBe(402)
    const before = earned()
    const { headers } = await payment('/paid/live')
    const opened = await new Promise<{ receipt: unknown; message: string }>((resolve, reject) => {
      let receipt: unknown
      const socket = connect(headers)
      socket.on('upgrade', (response) => {
        receipt = response.headers['payment-response']
      })
      socket.on('message', (data) => {
        resolve({ receipt, message: String(data) })
        socket.close()
      })
      socket.on('error', reject)
    })
    expect(opened).toEqual({ receipt: expect.any(String), message: 'paid words' })
    expect(earned() - before).toBe(CENT)
  })

  it('its own module pays in a program, too: /x402/client.js', async () => {
    const fetch = tunnelFetch(relay)
    const file = join(home, 'client.mjs')
    await writeFile(file, await (await fetch(`${site}/x402/client.js`)).text())
    const { x402Fetch, settlementOf } = await import(pathToFileURL(file).href)
    vi.stubGlobal('fetch', fetch)
    const before = earned()
    const own = {
      address: wallet.address,
      sign: (transaction: string) => wallet.signTransaction(transaction),
    }
    await expect(x402Fetch(`${site}/paid/b`, {}, { wallet: own, maxAmount: '0.009999' })).rejects.toThrow(
      'more than',
    )
    const response = await x402Fetch(`${site}/paid/b`, {}, { wallet: own, maxAmount: '0.01' })
    expect([response.status, await response.text()]).toEqual([200, 'target /paid/b'])
    expect(settlementOf(response)).toMatchObject({ success: true, payer: wallet.address })
    expect(earned() - before).toBe(CENT)
    expect((await x402Fetch(`${site}/docs`)).status).toBe(200)
    // coins that are not in the address balance yet are moved there first
    const coins = createTestWallet()
    chain.node.chain.fundCoin(coins.address, CENT)
    const execute = vi.fn(async (transaction: string) => {
      const signature = await coins.signTransaction(transaction)
      await chain.node.chain.execute(fromBase64(transaction), [fromBase64(signature)])
    })
    const moving = { address: coins.address, sign: (text: string) => coins.signTransaction(text), execute }
    expect((await x402Fetch(`${site}/paid/c`, {}, { wallet: moving })).status).toBe(200)
    expect(execute).toHaveBeenCalledOnce()
    expect(earned() - before).toBe(2n * CENT)
  })
})

describe('what cannot work is said when the site starts', () => {
  const routes = { '/paid': () => new Response('sold') }
  const paid = { payTo: PAY_TO, network: 'sui:testnet' as const, routes: [{ path: '/paid', amount: '0.01' }] }

  it.each([
    [
      { routes, paid: { ...paid, payTo: `0x${'ee'.repeat(32)}` } },
      'payments_unavailable',
      'sets X402_PAY_TO',
    ],
    [{ routes, paid: { ...paid, network: undefined } }, 'payments_unavailable', 'is for sui:testnet'],
    [
      { routes, paid: { ...paid, routes: [{ path: '/paid', amount: '0.0000001' }] } },
      'invalid_option',
      'decimal places',
    ],
    [{ tls: 8443, paid }, 'invalid_option', 'tls'],
    [{ tcp: 5432, paid }, 'invalid_option', 'http, fetch or routes'],
    [{ routes, paid, cache: { files: {} as never } }, 'invalid_option', 'cache'],
  ])('%#: %s', async (options, code, message) => {
    await expect(exposeAt(relay, options)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
  })

  it.each([
    [['--route', '/paid=3000 GET:0.01'], '--x402-pay-to is missing'],
    [['--route', '/paid=3000 GET:1e3', '--x402-pay-to', PAY_TO], 'amount "1e3"'],
    [['--route', '/paid=3000 GET:0.01', '--x402-pay-to', '0x12'], 'payTo'],
    [['--route', 'a.example/paid=3000 GET:0.01', '--x402-pay-to', PAY_TO], 'a path at every host'],
    [['--route', '/free=3000', '--x402-pay-to', PAY_TO], 'nothing has a price'],
    [
      ['--route', '/paid=3000 GET:0.01', '--x402-pay-to', PAY_TO, '--x402-endpoints', 'https://a.example'],
      'self',
    ],
    [
      ['--route', '/paid=3000 GET:0.01', '--x402-pay-to', PAY_TO, '--x402-network', 'sui:devnet'],
      'Allowed choices',
    ],
  ])('svc expose %s', async (args, message) => {
    const failed = runHere(home, ['expose', '--relay', relay.origin, '--ca', relay.caFile, ...args])
    expect(await failed.ended).toBe(2)
    expect(failed.err.join('\n')).toContain(message)
  })
})

describe('the facilitator of the relay', () => {
  const terms = { payTo: PAY_TO, network: 'sui:testnet' as const, routes: [{ path: '/', amount: '0.01' }] }

  async function paymentFor(url: string): Promise<Record<string, string>> {
    const fetch = tunnelFetch(relay)
    const client = referenceClient(url, '/', wallet, fetch)
    const unpaid = await fetch(url)
    const required = client.getPaymentRequiredResponse(
      (name) => unpaid.headers.get(name),
      await unpaid.json(),
    )
    return client.encodePaymentSignatureHeader(await client.createPaymentPayload(required))
  }

  async function buy(url: string): Promise<Response> {
    return tunnelFetch(relay)(url, { headers: await paymentFor(url) })
  }

  it('is taken when the options name none', async () => {
    const before = earned()
    const exposure = await exposeAt(relay, { fetch: () => new Response('sold'), paid: terms })
    const response = await buy(exposure.sites[0]!.url.replace(/\/$/, ''))
    expect([response.status, await response.text()]).toEqual([200, 'sold'])
    expect(earned() - before).toBe(CENT)
    await exposure.close()
  })

  it('releases nothing to a visitor who ended its direction, and still reads: it is not charged', async () => {
    const before = earned()
    const exposure = await exposeAt(relay, { fetch: () => new Response('sold'), paid: terms })
    const url = exposure.sites[0]!.url.replace(/\/$/, '')
    const { hostname, host } = new URL(url)
    const fields = Object.entries({ host, ...(await paymentFor(url)) })
    const halfOpen = { host: '127.0.0.1', servername: hostname, ca: relay.ca, allowHalfOpen: true }
    const socket = connectTls(relay.port, halfOpen)
    socket.end(`GET / HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
    const answer = Buffer.concat(await socket.toArray()).toString()
    expect(answer).toMatch(/^HTTP\/1\.1 500 /)
    expect(answer).not.toContain('sold')
    expect(earned() - before).toBe(0n)
    await exposure.close()
  })

  it('is found by the canonical URL of a site that is published without one', async () => {
    vi.stubGlobal('fetch', tunnelFetch(relay))
    const { paid } = await import('../../src/handlers.ts')
    const errors: unknown[] = []
    const exposure = await exposeAt(relay, {
      fetch: paid(() => new Response('sold'), terms),
      onSite: (site) => site.addEventListener('error', ({ error }) => errors.push(error)),
    })
    const response = await buy(exposure.sites[0]!.url.replace(/\/$/, ''))
    expect([response.status, errors]).toEqual([200, []])
    await exposure.close()
  })
})

it('expose of a page that is paid needs no port: a handler', async () => {
  const { createFacilitator, openPaymentJournal } = await import('../../src/payment/index.ts')
  const facilitator = await createFacilitator({
    network: 'sui:testnet',
    payTo: PAY_TO,
    journal: await openPaymentJournal(join(home, 'own.jsonl')),
    endpoints: [chain.url],
  })
  const { paid } = await import('../../src/handlers.ts')
  const handler = paid(() => new Response('sold'), {
    payTo: PAY_TO,
    network: 'sui:testnet',
    routes: [{ path: '/', amount: '0.02' }],
    facilitator,
  })
  const exposure = await expose({
    relay: relay.origin,
    ca: relay.ca,
    name: 'whole',
    fetch: handler,
    identityPath: join(home, 'id.json'),
  })
  const response = await tunnelFetch(relay)(exposure.sites[0]!.url)
  expect([response.status, (await response.json()).accepts[0].amount]).toEqual([402, '20000'])
  await exposure.close()
})
