// Visitors sign in with a browser wallet, at a site that a page publishes and at a server that `svc expose` does.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Page } from '@playwright/test'
import { root } from '../tools/programs/command.ts'
import { curl } from '../tools/programs/curl.ts'
import { endServer } from '../tools/programs/server-process.ts'
import { wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'
import { expectAccessible, expectFits, expectStrictPolicy } from './support/example-page.ts'
import { addTestWallet, type TestWallet } from './support/test-wallet.ts'

const COOKIE = '__Host-svc-wallet'

test('a page’s site: a visitor signs in, opens a WebSocket and events, and both end with the sign-out', async ({
  relay,
  tenant,
  visitor,
}) => {
  const wallet = await addTestWallet(visitor.context())
  const url = await publishGuarded(tenant, relay.url, 'wallet-page', wallet.address)
  const errors = watchErrors(visitor)

  const answer = await visitor.goto(`${url}/inside?a=b#c`)
  expect(answer!.status()).toBe(401)
  await expect(visitor.getByText('Signing costs nothing.')).toBeVisible()
  await visitor.getByRole('button', { name: 'Sign in with Test wallet' }).click()
  await expect(visitor.locator('h1')).toHaveText(`You are ${wallet.address}`)
  // The visitor is where the link led, and nowhere else.
  expect(visitor.url()).toBe(`${url}/inside?a=b#c`)
  const { host, origin } = new URL(url)
  expect(wallet.signed).toEqual([expect.stringMatching(new RegExp(`^${host} wants you to sign in `))])
  expect(wallet.signed[0]).toContain(`\nURI: ${origin}\n`)
  const [cookie] = await visitor.context().cookies(url)
  expect(cookie).toMatchObject({ name: COOKIE, httpOnly: true, secure: true, sameSite: 'Lax' })
  expect(await visitor.evaluate(() => document.cookie)).toBe('')

  const seen = await visitor.evaluateHandle(async () => {
    const socket = new WebSocket(location.origin.replace('https:', 'wss:'))
    const source = new EventSource('/events')
    const closed = new Promise<number>((resolve) =>
      socket.addEventListener('close', ({ code }) => resolve(code)),
    )
    const first = (target: EventTarget) =>
      new Promise<string>((resolve) =>
        target.addEventListener('message', (event) => resolve((event as MessageEvent).data), { once: true }),
      )
    const messages = await Promise.all([first(socket), first(source)])
    // The stream ends, the browser asks again, is refused, and gives up.
    const ended = new Promise<number>((resolve) => {
      source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) resolve(source.readyState)
      }
    })
    return { messages, over: Promise.all([closed, ended]) }
  })
  const address = wallet.address
  expect(await seen.evaluate(({ messages }) => messages)).toEqual([
    `socket of ${address}`,
    `events of ${address}`,
  ])

  const second = await visitor.context().newPage()
  await second.goto(`${url}/.svc/wallet`)
  await expect(second.getByText(wallet.address)).toBeVisible()
  await expectAccessible(second)
  await second.getByRole('button', { name: 'Sign out' }).click()
  await expect(second.locator('h1')).toHaveText(`Sign in to ${host}`)
  expect(await seen.evaluate(({ over }) => over)).toEqual([1008, 2])
  expect(await visitor.context().cookies(url)).toEqual([])
  expect((await visitor.reload())!.status()).toBe(401)
  expect(errors).toEqual([])
})

wholeOnly(test, 'variant')(
  'the page says who may not come in, what was declined, and that there is no wallet',
  async ({ relay, tenant, visitor }, info) => {
    const wallet = await addTestWallet(visitor.context())
    const url = await publishGuarded(tenant, relay.url, 'wallet-words', `0x${'1'.repeat(40)}`)
    const response = await visitor.goto(url)
    const policy = (await response!.headerValue('content-security-policy')) ?? ''
    expectStrictPolicy(policy)
    await visitor.getByRole('button', { name: 'Sign in with Test wallet' }).click()
    await expect(visitor.getByRole('alert')).toContainText(
      `${wallet.address} is not on the list of this site`,
    )
    await expectFits({ 'wallet-sign-in': visitor }, info)
    await expectAccessible(visitor)
    wallet.rejects = true
    await visitor.getByRole('button', { name: 'Sign in with Test wallet' }).click()
    await expect(visitor.getByRole('alert')).toHaveText('You declined in your wallet. Nothing was signed.')
    expect(await visitor.context().cookies(url)).toEqual([])
    const plain = await visitor.context().browser()!.newContext()
    const without = await plain.newPage()
    await without.goto(url)
    await expect(without.getByText('There is no wallet in this browser.')).toBeVisible()
    await expectAccessible(without)
    await plain.close()
  },
)

wholeOnly(test, 'variant')(
  'svc expose --allow-wallet: the server behind sees the address, programs get 401 with a link',
  async ({ relay, visitor }) => {
    const wallet = await addTestWallet(visitor.context())
    const server = await serveAddress()
    const svc = await startSvc(relay, String((server.address() as AddressInfo).port), wallet)
    try {
      const json = ['-H', 'Accept: application/json', '-H', `X-Svc-Wallet: ${wallet.address}`]
      const refused = JSON.parse(String(await curl(relay.caFile, ...json, svc.url)))
      expect(refused).toMatchObject({ error: 'unauthorized', sign_in: `${svc.url}/.svc/wallet` })
      // A path that a careless script would take for another host: the visitor stays here.
      const path = '//evil.example/%2f?next=//evil.example'
      await visitor.goto(svc.url + path)
      await visitor.getByRole('button', { name: 'Sign in with Test wallet' }).click()
      await expect(visitor.locator('body')).toHaveText(`You are ${wallet.address}`)
      expect(visitor.url()).toBe(svc.url + path)
      const [cookie] = await visitor.context().cookies(svc.url)
      const asked = [
        ...['-H', `Cookie: ${COOKIE}=${cookie!.value}`, '-H', 'X-Svc-Wallet: me', '-H', 'X_Svc_Wallet: me'],
        ...['--http1.1', '-H', 'Connection: X-Svc-Wallet', svc.url],
      ]
      expect(String(await curl(relay.caFile, ...asked))).toBe(`You are ${wallet.address}`)
    } finally {
      await svc.stop()
      server.close()
    }
  },
)

/** Publishes a site in the tenant's page. Its handler shows the address, and has a WebSocket and server-sent events. */
function publishGuarded(tenant: Page, relay: string, name: string, address: string): Promise<string> {
  return tenant.evaluate(
    async ({ relay, name, address }) => {
      const fetch = svc.walletOnly(
        (request, info) => {
          const wallet = request.headers.get('x-svc-wallet')
          if (request.headers.has('upgrade')) {
            const { socket, response } = info.upgrade(request)
            socket.onopen = () => socket.send(`socket of ${wallet}`)
            return response
          }
          if (new URL(request.url).pathname === '/events') {
            const body = new ReadableStream({
              start: (controller) =>
                controller.enqueue(new TextEncoder().encode(`data: events of ${wallet}\n\n`)),
            })
            return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
          }
          const html = `<!doctype html><title>Inside</title><link rel="icon" href="data:,"><h1>You are ${wallet}</h1>`
          return new Response(html, {
            headers: { 'Content-Type': 'text/html', 'Cache-Control': 'max-age=600' },
          })
        },
        { wallets: [address] },
      )
      const { url } = await svc.publish({ relay, name, fetch })
      return url
    },
    { relay, name, address },
  )
}

/** Errors of scripts. The console has each 401, too, which is what the tests want. */
function watchErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) errors.push(message.text())
  })
  return errors
}

/** A server of this machine that says whom it sees, by the one field that has the address. */
async function serveAddress(): Promise<Server> {
  const server = createServer(({ rawHeaders }, response) => {
    const values = rawHeaders.filter((_, at) => at % 2 === 1 && /^x.svc.wallet$/i.test(rawHeaders[at - 1]!))
    response.setHeader('Content-Type', 'text/html')
    response.end(`You are ${values.join(' and ')}`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

async function startSvc(
  relay: { url: string; caFile: string },
  target: string,
  wallet: TestWallet,
): Promise<{ url: string; stop(): Promise<void> }> {
  const home = await mkdtemp(path.join(tmpdir(), 'svc-e2e-wallet-'))
  const site = ['--relay', relay.url, '--ca', relay.caFile, '--name', 'wallet-expose', '--json']
  const main = path.join(root, 'sdk-node/src/cli/main.ts')
  const args = [main, 'expose', target, '--allow-wallet', wallet.address, ...site]
  const env = { ...process.env, XDG_CONFIG_HOME: home }
  const child: ChildProcess = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = async (): Promise<void> => {
    await endServer(child)
    await rm(home, { recursive: true })
  }
  for await (const line of createInterface(child.stdout!)) {
    const report = JSON.parse(line)
    if (report.event === 'online') return { url: report.url, stop }
  }
  await stop()
  throw new Error('svc ended')
}
