// `svc expose --inspect` at a real relay: the address in its output, and what a page sees there. The agent does the same.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { descriptorSet } from '../../../sdk-core/test/inspector/protobuf-set.ts'
import { AGENT_PATH } from '../../src/agent/api-messages.ts'
import { ProcessInspector } from '../../src/cli/commands/process-inspector.ts'
import { InspectKey } from '../../src/cli/tui/inspect-key.ts'
import {
  type EntryDetail,
  type EntryList,
  INSPECTOR_PATH,
  type InspectorState,
} from '../../src/inspector/api-messages.ts'
import { ANY_PORT, makeHome, startAgent } from '../support/agent.ts'
import { exposeAt, text, visit } from '../support/exposed.ts'
import { type Run, reported } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay()
const svc = (...args: string[]): Run =>
  own.svc(...args, '--relay', own.relay.origin, '--ca', own.relay.caFile)

interface Page {
  list(): Promise<EntryList>
  /** Posts what is given. */
  ask<T>(path: string, body?: object): Promise<T>
}

/** Signs in with the ticket of an address. */
async function pageAt(address: string): Promise<Page> {
  const { origin, hash } = new URL(address)
  const ticket = /^#ticket=(.+)$/.exec(hash)?.[1]
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const post = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(origin + path, { headers, ...post })
    const { data, error } = (await answer.json()) as { data: T; error?: { message: string } }
    if (error) throw new Error(error.message)
    return data
  }
  const { access_token } = await ask<{ access_token: string }>(AGENT_PATH.redeem, { ticket })
  headers.Authorization = `Bearer ${access_token}`
  return { ask, list: () => ask(INSPECTOR_PATH.entries) }
}

it('prints the address of a page, where requests are, and none without the option', async () => {
  const run = svc('expose', own.port, '--name', 'seen', '--inspect', '--json')
  const { url, inspector } = await reported(run, 'online')
  expect(inspector).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{43}$/)
  await text(await visit(own.relay, url!, '/looked?token=1'))
  const { list } = await pageAt(inspector!)
  await expect
    .poll(async () => (await list()).entries)
    .toMatchObject([{ tunnel: 'seen', path: '/looked?token=••••••', status: 200, address: '127.0.0.1' }])
  const other = svc(
    'expose',
    own.port,
    '--name',
    'unseen',
    '--identity-path',
    join(own.home, 'other.json'),
    '--json',
  )
  expect(await reported(other, 'online')).not.toHaveProperty('inspector')
})

it('a line of text has it, too', async () => {
  const run = svc('expose', own.port, '--inspect')
  await expect.poll(() => run.out[0]).toMatch(/ {2}to inspect: http:\/\/127\.0\.0\.1:\d+\/#ticket=/)
})

it('is refused where requests are not seen', async () => {
  const run = svc('expose', '--tls', '443', '--inspect', '--json')
  expect(await run.ended).toBe(2)
  expect(run.out.join()).toContain('an inspector needs http')
})

it('shows protobuf by the types of a file, and says when the file has none', async () => {
  const types = join(own.home, 'types.binpb')
  await writeFile(types, descriptorSet())
  const run = svc('expose', own.port, '--name', 'typed', '--inspect', '--proto', types, '--json')
  const { url, inspector } = await reported(run, 'online')
  const headers = { 'Content-Type': 'application/proto' }
  const body = Buffer.from('120774657374696e67', 'hex')
  await text(await visit(own.relay, url!, '/test.Echo/Unary', { method: 'POST', headers, body }))
  const { list, ask } = await pageAt(inspector!)
  await expect.poll(async () => (await list()).entries).toMatchObject([{ state: 'done' }])
  const [entry] = (await list()).entries
  const shown = await ask<EntryDetail>(`${INSPECTOR_PATH.entry}?id=${entry!.id}`)
  const view = { kind: 'protobuf', type: 'test.Test2', text: '{\n  "b": "testing"\n}', cut: false }
  expect(shown.request.body.view).toEqual(view)
  const base64 = Buffer.from(descriptorSet(['More'])).toString('base64')
  const state = await ask<InspectorState>(INSPECTOR_PATH.descriptors, { base64 })
  expect(state.message_types).toBe(9)
  await expect(ask(INSPECTOR_PATH.descriptors, { base64: '////' })).rejects.toThrow(/FileDescriptorSet/)
  await writeFile(types, 'syntax = "proto3";')
  const [wrong, missing] = [types, join(own.home, 'none')].map((file) =>
    svc('expose', own.port, '--inspect', '--proto', file, '--json'),
  )
  expect([await wrong!.ended, await missing!.ended]).toEqual([2, 2])
  expect(wrong!.out.join()).toMatch(/types\.binpb: it cannot be read as a FileDescriptorSet/)
  expect(missing!.out.join()).toMatch(/none cannot be read/)
  const unseen = svc('expose', own.port, '--proto', types, '--json')
  expect(await unseen.ended).toBe(2)
  expect(unseen.out.join()).toContain('--proto is for --inspect')
})

it('the key i begins to record, and opens the page at a new address each time', async () => {
  const process = new ProcessInspector(true, (error) => expect.fail(String(error)))
  const exposure = await exposeAt(own.relay, { http: own.port, inspector: await process.of(false) })
  const { url } = exposure.sites[0]!
  await text(await visit(own.relay, url, '/before'))
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
  await text(await visit(own.relay, url, '/after'))
  const { list } = await pageAt(opened[0]!)
  await expect.poll(async () => (await list()).entries).toMatchObject([{ path: '/after' }])
  key.press('i')
  await expect.poll(() => changes).toHaveLength(2)
  expect(changes[1]).toEqual([`requests: ${opened[1]}`])
  expect(opened[1]).not.toBe(opened[0])
  await exposure.close()
  await process.close()
})

it('the agent has it for the tunnels of svc.toml that ask for it, and for others once its owner says so', async () => {
  const tunnel = (name: string, fields: string) => `[[tunnel]]\nname = "${name}"\n${fields}\n`
  const at = `relay = "${own.relay.origin}"\nca = "${own.relay.caFile}"\n${ANY_PORT}`
  const one = tunnel('one', `http = ${own.port}\ninspect = true`)
  const folder = await makeHome(
    `${at}${one}${tunnel('two', `http = ${own.port}`)}${tunnel('three', `tls = ${own.port}`)}`,
  )
  const agent = await startAgent(folder)
  const online = async (): Promise<Record<string, string>> => {
    const { tunnels } = await agent.status()
    const sites = tunnels.flatMap(({ name, relays }) =>
      relays.flatMap(({ state, url }) => (state === 'online' && url ? [[name, url]] : [])),
    )
    return Object.fromEntries(sites)
  }
  await expect.poll(async () => Object.keys(await online())).toEqual(['one', 'two', 'three'])
  const visitBoth = async (path: string): Promise<void> => {
    const { one, two } = await online()
    for (const url of [one!, two!]) await text(await visit(own.relay, url, path))
  }
  const seen = async (): Promise<string[]> => {
    const { entries } = await agent.ask<EntryList>('GET', INSPECTOR_PATH.entries)
    return entries.map(({ tunnel, path }) => `${tunnel} ${path}`)
  }
  const recorded = async () => (await agent.status()).tunnels.map(({ recorded }) => recorded)
  const record = (name: string, isOn: boolean): Promise<object> =>
    agent.ask('POST', AGENT_PATH.recordTunnel, { name, record: isOn })

  await visitBoth('/a')
  await expect.poll(seen).toEqual(['one /a'])
  expect(await recorded()).toEqual([true, false, undefined])
  await record('two', true)
  await record('one', false)
  await visitBoth('/b')
  await expect.poll(seen).toEqual(['one /a', 'two /b'])
  expect(await recorded()).toEqual([false, true, undefined])

  // A tunnel that starts again is recorded as before, and one of svc.toml as that says.
  for (const path of [AGENT_PATH.pauseTunnel, AGENT_PATH.resumeTunnel])
    for (const name of ['one', 'two']) await agent.ask('POST', path, { name })
  await expect.poll(async () => Object.keys(await online()).length).toBe(3)
  await visitBoth('/c')
  await expect.poll(seen).toEqual(['one /a', 'two /b', 'one /c', 'two /c'])
  await expect(record('three', true)).rejects.toThrow('none of an HTTP server')
  await expect(record('four', true)).rejects.toThrow('no tunnel four')
  await agent.stop()
  await folder.remove()
})
