// The agent makes, lists and withdraws share links for its owner alone, and `svc share` does so at the agent's socket.

import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { AGENT_PATH, type AgentShares, type MadeShare } from '../../src/agent/api-messages.ts'
import { tunnelsAtAgent } from '../../src/cli/commands/share-agent.ts'
import { obeyShare, type ShareSource } from '../../src/cli/commands/share-links.ts'
import { tunnelsAtSockets } from '../../src/cli/commands/share-socket.ts'
import type { Report } from '../../src/cli/report/report.ts'
import { type AgentHome, ANY_PORT, makeHome, type RunningAgent, send, startAgent } from '../support/agent.ts'
import { listening, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'

let relay: TestRelay
let target: Server
let home: AgentHome
let agent: RunningAgent
beforeAll(async () => {
  relay = await startTestRelay()
  target = createServer((_, response) => response.end('hello'))
  const port = await listening(target)
  const tunnels = `[[tunnel]]
name = "shared"
http = ${port}
[tunnel.access]
password = "open sesame"
[[tunnel]]
name = "limited"
http = ${port}
[tunnel.access]
rate = "100/s"
[[tunnel]]
name = "open"
http = ${port}
`
  home = await makeHome(`relay = "${relay.origin}"\nca = "${relay.caFile}"\n\n${ANY_PORT}${tunnels}`)
  agent = await startAgent(home)
  await allOnline()
})
afterAll(async () => {
  await agent.stop()
  await home.remove()
  target.closeAllConnections()
  target.close()
  await relay.close()
})

async function allOnline(): Promise<void> {
  await vi.waitFor(async () => {
    const states = (await agent.status()).tunnels.map(({ relays }) => relays[0]?.state)
    expect(states).toEqual(['online', 'online', 'online'])
  }, 30_000)
}

const make = (body: object): Promise<MadeShare> => agent.ask('POST', AGENT_PATH.makeShare, body)
const list = async (): Promise<AgentShares['shares']> =>
  (await agent.ask<AgentShares>('GET', AGENT_PATH.shares)).shares
const withdraw = (id: unknown): Promise<object> => agent.ask('POST', AGENT_PATH.withdrawShare, { id })
const secretOf = ({ url }: { url: string }): string => new URL(url).hash.slice('#svc-share='.length)

async function statusOfSignIn(link: MadeShare): Promise<number | undefined> {
  const { origin } = new URL(link.url)
  const headers = { 'content-type': 'application/json', origin }
  const body = JSON.stringify({ secret: secretOf(link) })
  const answer = await visit(relay, origin, '/.svc/access/share', { method: 'POST', headers, body })
  return answer.resume().statusCode
}

it('makes a link, lists who used it, and withdraws it; its secret is in no other answer, and in no log', async () => {
  const link = await make({ name: 'shared', once: true, until: '2h', note: 'for Bob', path: '/page' })
  expect(new URL(link.url).search).toBe('?next=%2Fpage')
  expect([await statusOfSignIn(link), await statusOfSignIn(link)]).toEqual([200, 403])
  const { url, ...described } = link
  const listed = { ...described, uses: 1, used_at: expect.any(String), address: '127.0.0.1' }
  expect(await list()).toEqual([listed])
  const seen = [
    await agent.status(),
    await list(),
    agent.reports,
    await readFile(join(home.state, 'agent.log'), 'utf8'),
  ]
  expect(JSON.stringify(seen)).not.toContain(secretOf(link))
  expect(await withdraw(link.id)).toEqual({})
  expect(await list()).toEqual([])
  await expect(withdraw(link.id)).rejects.toMatchObject({ code: 'share_not_found' })
})

it('says which tunnels can be shared, and why others cannot', async () => {
  const { tunnels } = await agent.status()
  expect(tunnels.map(({ can_be_shared }) => can_be_shared)).toEqual([true, false, false])
  await expect(make({ name: 'other' })).rejects.toMatchObject({ code: 'tunnel_not_found' })
  for (const name of ['limited', 'open'])
    await expect(make({ name })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `${name} lets everybody in: a share link needs password, users, bearer, oidc or knock in [tunnel.access]`,
    })
  await expect(make({ name: 'shared', until: 'soon' })).rejects.toMatchObject({ code: 'invalid_request' })
})

it.each([
  [{ name: 'shared', once: 'yes' }, 'once'],
  [{ name: 'shared', note: 7 }, 'note'],
  [{ name: ['shared'] }, 'name'],
])('refuses %o', async (body, field) => {
  await expect(make(body)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(field),
  })
})

it('is for nobody without the token of the owner', async () => {
  for (const [method, path] of [
    ['GET', AGENT_PATH.shares],
    ['POST', AGENT_PATH.makeShare],
    ['POST', AGENT_PATH.withdrawShare],
  ] as const) {
    const headers = { Authorization: 'Bearer wrong', 'Content-Type': 'application/json' }
    const { status } = await send(agent.endpoint, method, path, headers, method === 'GET' ? undefined : '{}')
    expect(status).toBe(401)
  }
})

it('keeps links when the tunnel starts again, and answers svc share', async () => {
  const link = await make({ name: 'shared' })
  const svc = (options: object): Promise<Report[]> =>
    svcShare(tunnelsAtSockets(join(home.path, 'run')), options)
  expect(await svc({ list: true })).toMatchObject([{ event: 'share', id: link.id, tunnel: 'shared' }])
  await agent.ask('POST', AGENT_PATH.pauseTunnel, { name: 'shared' })
  await expect.poll(list, { timeout: 30_000 }).toEqual([])
  await agent.ask('POST', AGENT_PATH.resumeTunnel, { name: 'shared' })
  await allOnline()
  expect(await statusOfSignIn(link)).toBe(200)
  expect(await svc({ withdraw: link.id })).toEqual([{ event: 'withdrawn', id: link.id }])
  expect(await statusOfSignIn(link)).toBe(403)
})

async function svcShare(source: ShareSource, options: object, tunnel = 'shared'): Promise<Report[]> {
  const reports: Report[] = []
  const chosen = { command: 'share', tunnel, options: { json: true, ...options } } as const
  await obeyShare(source, chosen, (report) => reports.push(report))
  return reports
}

it('answers svc share at its control API, where there are no sockets, as on Windows', async () => {
  const svc = (options: object, tunnel?: string): Promise<Report[]> =>
    svcShare(tunnelsAtAgent(home.state), options, tunnel)
  const [link] = await svc({ note: 'for Bob', once: true })
  expect(link).toMatchObject({ event: 'shared', tunnel: 'shared', note: 'for Bob', once: true })
  expect(await statusOfSignIn(link as unknown as MadeShare)).toBe(200)
  const { id } = link as unknown as MadeShare
  expect(await svc({ list: true })).toMatchObject([{ event: 'share', id, uses: 1 }])
  expect(await svc({ list: true }, 'limited')).toEqual([{ event: 'no_shares' }])
  expect(await svc({ withdraw: id })).toEqual([{ event: 'withdrawn', id }])
  await expect(svc({ withdraw: id })).rejects.toThrow(`there is no share link ${id}`)
  await expect(svc({ expires: 'soon' })).rejects.toThrow('until')
  await expect(svc({}, 'open')).rejects.toThrow('open lets everybody in')
  await expect(svc({}, 'missing')).rejects.toThrow('no tunnel missing is running')
  const nowhere = tunnelsAtAgent(join(home.path, 'nowhere'))
  await expect(svcShare(nowhere, {})).rejects.toThrow('no agent is running')
})
