// gRPC behind `access`, at a real relay: the client and the server of @grpc/grpc-js, with trailers, and who may not come in.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { Metadata, status } from '@grpc/grpc-js'
import { Inspector } from '@svc/sdk-core/inspector'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, expect, it } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import type { ExposeOptions, Exposure } from '../../src/index.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { EchoClient, EchoServer } from '../support/grpc-echo.ts'
import { startTestRelay } from '../support/relay.ts'

const BEARER = 'a-token-that-nobody-can-guess'

const relay = useStarted(startTestRelay)

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

interface Echo {
  server: EchoServer
  client: EchoClient
  exposure: Exposure
}

async function echo(options: Partial<ExposeOptions> = {}): Promise<Echo> {
  const server = await new EchoServer().start(false)
  ends.push(() => server.server.forceShutdown())
  const http = `grpc://127.0.0.1:${server.port}`
  const exposure = await exposeAt(relay, { http, access: { bearer: BEARER }, ...options })
  ends.push(() => exposure.close())
  const client = new EchoClient(relay.port, relay.ca, new URL(exposure.sites[0]!.url).host)
  ends.push(() => client.client.close())
  return { server, client, exposure }
}

function withFields(fields: Record<string, string> = { authorization: `Bearer ${BEARER}` }): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value)
  return metadata
}

/** Begins a conversation, and resolves with the code with which it ends. */
function codeOf(client: EchoClient, metadata: Metadata): Promise<number> {
  const call = client.stream(metadata)
  call.on('error', () => {})
  return new Promise((resolve) => call.on('status', ({ code }) => resolve(code)))
}

it('a call with the token has metadata in both directions, and its status in trailers', async () => {
  const reports: string[] = []
  const { client } = await echo({ onRequest: (report) => reports.push(`${report.path} ${report.status}`) })
  const metadata = withFields()
  metadata.add('x-said', 'one')
  const large = Buffer.alloc(600_000, 'gRPC')
  const { answer, head, status: ok } = await client.unary(large, metadata)
  expect(answer?.equals(large)).toBe(true)
  expect(head.get('x-heard')).toEqual(['one'])
  expect([ok.code, ok.metadata.get('x-last-bin')]).toEqual([status.OK, [Buffer.from([0, 255])]])
  const refused = await client.unary(Buffer.alloc(0), withFields())
  expect(refused.status).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'nothing to echo – „leer“',
  })
  expect(refused.status.metadata.get('x-last-bin')).toHaveLength(1)
  expect(reports).toEqual(['/test.Echo/Unary 200', '/test.Echo/Unary 200'])
})

it('a conversation goes message by message, and its cancellation reaches the server', async () => {
  const { server, client } = await echo()
  const call = client.stream(withFields())
  for (const message of ['one', 'two', 'three']) {
    call.write(Buffer.from(message))
    expect(String((await once(call, 'data'))[0])).toBe(message)
  }
  // Neither the token nor anything of it comes to the server behind.
  expect(server.call!.metadata.get('authorization')).toEqual([])
  call.on('error', () => {})
  call.cancel()
  await server.cancelled.promise
})

it('who has no token, or a wrong one, is not authenticated, and the server hears nothing', async () => {
  const inspector = new Inspector()
  const { server, client } = await echo({ inspector })
  for (const fields of [{}, { authorization: `Bearer ${BEARER}x` }, { authorization: `Basic ${BEARER}` }]) {
    expect(await codeOf(client, withFields(fields as Record<string, string>))).toBe(status.UNAUTHENTICATED)
  }
  expect([server.call, inspector.entries]).toEqual([undefined, []])
  const { status: ok } = await client.unary(Buffer.from('one'), withFields())
  expect([ok.code, ok.metadata.get('x-last-bin')]).toEqual([status.OK, [Buffer.from([0, 255])]])
  expect(inspector.entries).toHaveLength(1)
})

it('a conversation ends with its session', async () => {
  const { client, exposure } = await echo()
  const site = exposure.sites[0]!
  const link = await site.share!()
  const entered = await visit(relay, site.url, '/.svc/access/share', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: new URL(site.url).origin },
    body: JSON.stringify({ secret: new URL(link.url).hash.split('=')[1] }),
  })
  const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!
  const call = client.stream(withFields({ cookie }))
  const failed = once(call, 'error')
  call.write(Buffer.from('one'))
  expect(String((await once(call, 'data'))[0])).toBe('one')
  site.unshare!(link.id)
  expect((await failed)[0].code).not.toBe(status.OK)
  expect((await client.unary(Buffer.from('two'), withFields({ cookie }))).status.code).toBe(
    status.UNAUTHENTICATED,
  )
})

it('behind walletOnly, calls with a session have their trailers, and others say where to sign in', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const { server, client, exposure } = await echo({
    access: undefined,
    walletOnly: { wallets: [account.address] },
  })
  const { url } = exposure.sites[0]!
  const { origin } = new URL(url)
  const refused = await client.unary(Buffer.from('one'), new Metadata())
  expect(refused.status).toMatchObject({
    code: status.UNAUTHENTICATED,
    details: `This site is for visitors who sign in with a wallet: ${origin}/.svc/wallet`,
  })
  const forged = { cookie: '__Host-svc-wallet=forged' }
  expect(await codeOf(client, withFields(forged))).toBe(status.UNAUTHENTICATED)
  expect(server.call).toBeUndefined()
  const post = (action: string, body: object) =>
    visit(relay, url, `/.svc/wallet/${action}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify(body),
    })
  const { message } = JSON.parse(await text(await post('challenge', { address: account.address })))
  const entered = await post('sign-in', { message, signature: await account.signMessage({ message }) })
  const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!
  const { answer, status: ok } = await client.unary(Buffer.from('two'), withFields({ cookie }))
  expect(String(answer)).toBe('two')
  expect([ok.code, ok.metadata.get('x-last-bin')]).toEqual([status.OK, [Buffer.from([0, 255])]])
  const call = client.stream(withFields({ cookie, 'x-svc-wallet': 'of a visitor' }))
  call.write(Buffer.from('three'))
  expect(String((await once(call, 'data'))[0])).toBe('three')
  expect(server.call!.metadata.get('x-svc-wallet')).toEqual([account.address])
  expect(server.call!.metadata.get('cookie')).toEqual([])
  call.end()
})

it('with paid, free calls have their trailers, and one with a price is refused before anything is charged', async () => {
  const asked: string[] = []
  const ask = (name: string) => async (): Promise<never> => {
    asked.push(name)
    throw new Error('the facilitator is asked')
  }
  const facilitator = { verify: ask('verify'), settle: ask('settle'), supported: ask('supported') }
  const { server, client } = await echo({
    access: undefined,
    paid: {
      payTo: `0x${'5e'.repeat(32)}`,
      network: 'sui:testnet',
      facilitator: facilitator as never,
      routes: [{ path: '/test.Echo/Stream', amount: '0.01' }],
    },
  })
  const { answer, status: ok } = await client.unary(Buffer.from('free'), new Metadata())
  expect([String(answer), ok.code, ok.metadata.get('x-last-bin')]).toEqual([
    'free',
    status.OK,
    [Buffer.from([0, 255])],
  ])
  for (const fields of [{}, { 'payment-signature': 'e30=' }, { 'x-payment': 'e30=' }])
    expect(await codeOf(client, withFields(fields as Record<string, string>))).toBe(status.UNIMPLEMENTED)
  expect([server.call, asked]).toEqual([undefined, []])
})

it('a call passes the rules and the token, and a rule that answers itself tells strangers nothing', async () => {
  const rules = {
    requestHeaders: { set: { 'X-Said': 'rules' } },
    maintenance: { path: '/test.Echo/Stream' },
  }
  const { client } = await echo({ rules })
  const { head, status: ok } = await client.unary(Buffer.from('one'), withFields())
  expect([ok.code, head.get('x-heard')]).toEqual([status.OK, ['rules']])
  expect(await codeOf(client, new Metadata())).toBe(status.UNAUTHENTICATED)
  expect(await codeOf(client, withFields())).toBe(status.UNAVAILABLE)
})

it.each(['application/grpc', 'Application/gRPC+proto', 'application/grpc;x=y'])(
  'the media type %s is no way around the sign-in of a web server',
  async (type) => {
    const seen: unknown[] = []
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization)
      response.end('secret')
    })
    ends.push(() => server.close())
    const access = { password: 'open sesame', denyIp: ['192.0.2.0/24'] }
    const exposure = await exposeAt(relay, { http: await listening(server), access })
    ends.push(() => exposure.close())
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const headers = { 'Content-Type': type, TE: 'trailers' }
      const answer = await visit(relay, exposure.sites[0]!.url, '/', { method, headers })
      expect([answer.statusCode, await text(answer)]).toEqual([401, expect.not.stringContaining('secret')])
    }
    expect(seen).toEqual([])
  },
)

it('the media type of gRPC is no way around a sign-in by wallet', async () => {
  const seen: unknown[] = []
  const server = createServer((request, response) => {
    seen.push(request.url)
    response.end('secret')
  })
  ends.push(() => server.close())
  const { address } = privateKeyToAccount(generatePrivateKey())
  const http = await listening(server)
  const exposure = await exposeAt(relay, { http, walletOnly: { wallets: [address] } })
  ends.push(() => exposure.close())
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    const headers = { 'Content-Type': 'application/grpc', TE: 'trailers', 'X-Svc-Wallet': address }
    const answer = await visit(relay, exposure.sites[0]!.url, '/', { method, headers })
    expect([answer.headers['grpc-status'], await text(answer)]).toEqual(['16', ''])
  }
  expect(seen).toEqual([])
})
