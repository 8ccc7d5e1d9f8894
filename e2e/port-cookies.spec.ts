// A lease with a dedicated TCP port cannot pass for another site in a browser, which shares cookies among all ports of a host.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { request as askHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expose } from '@svc/sdk-node'
import { freeRange } from '../tools/network/free-port.ts'
import { test as base, expect, relayWith } from './fixtures.ts'
import { addTestWallet } from './support/test-wallet.ts'

const PORTS = 2
const first = await freeRange(PORTS)
const env = { TCP_ENABLED: 'true', MIN_PORT: `${first}`, MAX_PORT: `${first + PORTS - 1}` }
const test = base.extend({ relay: relayWith(env) })

test('a free TCP port at the hostname of a site gets neither its cookies nor a sign-in', async ({
  relay,
  tenant,
  visitor,
}) => {
  const wallet = await addTestWallet(visitor.context())
  const url = await tenant.evaluate(
    async ({ relay, address }) => {
      const inside = (request: Request) => new Response(request.headers.get('cookie') ?? 'none')
      const guarded = svc.walletOnly(inside, { wallets: [address] })
      const fetch: typeof guarded = (request, info) =>
        new URL(request.url).pathname === '/open' ? inside(request) : guarded(request, info)
      return (await svc.publish({ relay, name: 'victim', fetch })).url
    },
    { relay: relay.url, address: wallet.address },
  )
  const { host, hostname, port } = new URL(url)
  const ca = await readFile(relay.caFile)
  const seen: string[] = []
  // The tenant passes everything on to the site, with the Host that it was asked for, and keeps what it sees.
  const server = createServer((incoming, outgoing) => {
    seen.push(`${incoming.headers.host} ${incoming.headers.cookie ?? ''}`)
    const { method, url: path, headers } = incoming
    const options = { host: '127.0.0.1', port, servername: hostname, ca, method, path, headers, agent: false }
    const passed = askHttps(options, (answer) => {
      const cookies = [...(answer.headers['set-cookie'] ?? []), 'planted=1; Path=/']
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'set-cookie': cookies })
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const impostor = await expose({ relay: relay.url, ca: String(ca), name: 'impostor', tcp: target })
  try {
    await visitor.goto(`${url}/open`)
    await visitor.context().addCookies([{ name: 'mine', value: 'secret', domain: hostname, path: '/' }])
    const address = impostor.sites[0]!.tcpAddress!
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
    const at = address.split(':')[1]
    const taken = `http://${hostname}:${at}`
    const other = await visitor.context().newPage()
    await expect(other.goto(taken)).rejects.toThrow(/ERR_(CONNECTION_RESET|EMPTY_RESPONSE)/)
    await visitor.evaluate(
      (taken) => fetch(taken, { mode: 'no-cors', credentials: 'include' }).catch(() => {}),
      taken,
    )
    expect(seen).toEqual([])
    expect((await visitor.context().cookies()).map(({ name }) => name)).toEqual(['mine'])
    // By its own address the port serves, and the site refuses to be asked for under that name.
    await visitor.goto(`http://${address}`)
    expect(await visitor.textContent('body')).toContain('This is not the site that you asked for')
    expect(seen[0]).toBe(`${address} `)
    const challenge = await askAs(ca, { host, port, hostname }, `${hostname}:${at}`, wallet.address)
    expect(challenge).toBe(421)
  } finally {
    await impostor.close()
    server.close()
  }
})

/** Asks the site for a challenge with another Host. @returns the status */
async function askAs(
  ca: Buffer,
  { port, hostname }: { host: string; port: string; hostname: string },
  named: string,
  address: string,
): Promise<number | undefined> {
  const headers = { Host: named, Origin: `http://${named}`, 'Content-Type': 'application/json' }
  const path = '/.svc/wallet/challenge'
  const sent = askHttps({ host: '127.0.0.1', port, servername: hostname, ca, method: 'POST', path, headers })
  sent.end(JSON.stringify({ address }))
  const [answer] = await once(sent, 'response')
  answer.resume()
  return answer.statusCode
}
