// `svc expose --inspect` at a real relay: the address in its output, and what a page sees there. The agent does the same.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { AGENT_PATH } from '../../src/agent/api-messages.ts'
import { ProcessInspector } from '../../src/cli/commands/process-inspector.ts'
import { InspectKey } from '../../src/cli/tui/inspect-key.ts'
import { type EntryList, INSPECTOR_PATH } from '../../src/inspector/api-messages.ts'
import { makeHome, startAgent } from '../support/agent.ts'
import { exposeAt, listening, text, visit } from '../support/exposed.ts'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { type Run, reported, runHere } from '../support/svc.ts'

let relay: TestRelay
let target: Server
let port: number
beforeAll(async () => {
  relay = await startTestRelay()
  target = createServer((_, response) => response.end('hello'))
  port = await listening(target)
})
afterAll(async () => {
  target.closeAllConnections()
  target.close()
  await relay.close()
})

let home: string
const running: Run[] = []
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'svc-inspect-'))
})
afterEach(async () => {
  for (const run of running.splice(0)) await run.stop()
  await rm(home, { recursive: true })
})

function svc(...args: string[]): Run {
  const run = runHere(home, [...args, '--relay', relay.origin, '--ca', relay.caFile])
  running.push(run)
  return run
}

/** Signs in with the ticket of an address, and resolves with a function that lists the entries there. */
async function pageAt(address: string): Promise<() => Promise<EntryList>> {
  const { origin, hash } = new URL(address)
  const ticket = /^#ticket=(.+)$/.exec(hash)?.[1]
  const headers = { 'Content-Type': 'application/json' }
  const signedIn = await fetch(origin + AGENT_PATH.redeem, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ticket }),
  })
  const { data } = (await signedIn.json()) as { data: { access_token: string } }
  return async () => {
    const given = { Authorization: `Bearer ${data.access_token}` }
    const answer = await fetch(origin + INSPECTOR_PATH.entries, { headers: given })
    return ((await answer.json()) as { data: EntryList }).data
  }
}

it('prints the address of a page, where requests are, and none without the option', async () => {
  const run = svc('expose', String(port), '--name', 'seen', '--inspect', '--json')
  const { url, inspector } = await reported(run, 'online')
  expect(inspector).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{43}$/)
  await text(await visit(relay, url!, '/looked?token=1'))
  const list = await pageAt(inspector!)
  await expect
    .poll(async () => (await list()).entries)
    .toMatchObject([{ tunnel: 'seen', path: '/looked?token=••••••', status: 200, address: '127.0.0.1' }])
  const other = svc(
    'expose',
    String(port),
    '--name',
    'unseen',
    '--identity-path',
    join(home, 'other.json'),
    '--json',
  )
  expect(await reported(other, 'online')).not.toHaveProperty('inspector')
})

it('a line of text has it, too', async () => {
  const run = svc('expose', String(port), '--inspect')
  await expect.poll(() => run.out[0]).toMatch(/ {2}to inspect: http:\/\/127\.0\.0\.1:\d+\/#ticket=/)
})

it('is refused where requests are not seen', async () => {
  const run = svc('expose', '--tls', '443', '--inspect', '--json')
  expect(await run.ended).toBe(2)
  expect(run.out.join()).toContain('an inspector needs http')
})

it('the key i begins to record, and opens the page at a new address each time', async () => {
  const process = new ProcessInspector(true, (error) => expect.fail(String(error)))
  const exposure = await exposeAt(relay, { http: port, inspector: await process.of(false) })
  const { url } = exposure.sites[0]!
  await text(await visit(relay, url, '/before'))
  expect([process.inspection, process.url]).toEqual([undefined, undefined])
  const opened: string[] = []
  const changes: string[][] = []
  const key = new InspectKey(
    () => process.look(),
    () => changes.push(key.lines()),
    (address) => opened.push(address),
  )
  key.press('x')
  key.press('i')
  await expect.poll(() => opened).toHaveLength(1)
  await text(await visit(relay, url, '/after'))
  const list = await pageAt(opened[0]!)
  await expect.poll(async () => (await list()).entries).toMatchObject([{ path: '/after' }])
  key.press('i')
  await expect.poll(() => changes).toHaveLength(2)
  expect(changes[1]).toEqual([`requests: ${opened[1]}`])
  expect(opened[1]).not.toBe(opened[0])
  await exposure.close()
  await process.close()
})

it('the agent has it for the tunnels of svc.toml that ask for it', async () => {
  const tunnel = (name: string, inspect: boolean) =>
    `[[tunnel]]\nname = "${name}"\nhttp = ${port}\ninspect = ${inspect}\n`
  const at = `relay = "${relay.origin}"\nca = "${relay.caFile}"\n[agent]\ncontrol_addr = "127.0.0.1:0"\n`
  const folder = await makeHome(`${at}${tunnel('one', true)}${tunnel('two', false)}`)
  const agent = await startAgent(folder)
  const headers = { Authorization: `Bearer ${agent.endpoint.token}` }
  const ask = async (path: string) =>
    (await (await fetch(agent.endpoint.url + path, { headers })).json()) as never
  const online = async () => {
    const { data } = (await ask(AGENT_PATH.status)) as {
      data: { tunnels: { relays: { url?: string; state: string }[] }[] }
    }
    return data.tunnels.flatMap(({ relays }) =>
      relays.filter(({ state }) => state === 'online').map(({ url }) => url!),
    )
  }
  await expect.poll(online).toHaveLength(2)
  for (const url of await online()) await text(await visit(relay, url, '/agent'))
  const list = async () => ((await ask(`${INSPECTOR_PATH.entries}?tunnel=one`)) as { data: EntryList }).data
  await expect.poll(async () => (await list()).entries).toMatchObject([{ tunnel: 'one', path: '/agent' }])
  expect((await list()).state.tunnels).toEqual(['one'])
  await agent.stop()
  await folder.remove()
})
