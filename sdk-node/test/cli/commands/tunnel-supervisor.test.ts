// Tunnels of one process at a real relay: added and removed while others run.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { useStarted } from '../../../../tools/use-started.ts'
import { ProcessInspector } from '../../../src/cli/commands/process-inspector.ts'
import { TunnelSupervisor } from '../../../src/cli/commands/tunnel-supervisor.ts'
import type { SiteCommand } from '../../../src/cli/options/parsed-command.ts'
import { EXIT } from '../../../src/cli/report/exit-codes.ts'
import type { Report } from '../../../src/cli/report/report.ts'
import { StatusStore } from '../../../src/cli/report/status-store.ts'
import { listening, text, visit } from '../../support/exposed.ts'
import { startTestRelay } from '../../support/relay.ts'

let target: Server
let targetPort: number
let home: string
const relay = useStarted(startTestRelay)
beforeAll(async () => {
  target = createServer((_, response) => void response.end('from the target'))
  targetPort = await listening(target)
  home = await mkdtemp(join(tmpdir(), 'svc-supervisor-'))
})
afterAll(async () => {
  target.close()
  await rm(home, { recursive: true })
})

let store: StatusStore
let supervisor: TunnelSupervisor
let reports: Report[]
let events: string[]
beforeEach(() => {
  store = new StatusStore()
  reports = []
  events = []
  const tell = (report: Report): void => void reports.push(report)
  const inspector = new ProcessInspector(false, (error) => expect.fail(String(error)))
  supervisor = new TunnelSupervisor({ tell, store, begun: async () => {}, areSeveral: true, inspector })
  supervisor.on('change', ({ name, state }) => events.push(`${name} ${state}`))
  supervisor.on('remove', ({ name }) => events.push(`${name} removed`))
})
afterEach(() => supervisor.close())

type ExposeCommand = Extract<SiteCommand, { command: 'expose' }>

function command(name: string | undefined, options: Partial<ExposeCommand['options']> = {}): ExposeCommand {
  return {
    command: 'expose',
    target: options.tcp === undefined ? String(targetPort) : undefined,
    options: {
      json: true,
      identityPath: join(home, 'identity.json'),
      relay: [relay.origin],
      ca: relay.caFile,
      carrier: 'native',
      allowCanonical: false,
      listed: false,
      allowField: [],
      inspect: false,
      logAddresses: 'short',
      banMitm: false,
      header: [],
      requestHeader: [],
      cors: [],
      maintenance: false,
      overlay: false,
      discover: 0,
      route: [],
      tag: [],
      ...(name !== undefined && { name }),
      ...options,
    },
  }
}

const urlOf = (name: string): string => `https://${name}.relay.localhost:${relay.port}`
const ask = async (name: string): Promise<string> => text(await visit(relay, urlOf(name)))
const shown = () => store.snapshot().map(({ tunnel, state }) => `${tunnel} ${state}`)
const state = (name: string) => supervisor.list().find((tunnel) => tunnel.name === name)?.state

it('adds and removes tunnels while others run', async () => {
  supervisor.add(command('first'))
  await expect.poll(() => state('first')).toBe('running')
  supervisor.add(command('second'))
  await expect.poll(() => state('second')).toBe('running')
  expect([await ask('first'), await ask('second')]).toEqual(['from the target', 'from the target'])
  expect(shown()).toEqual(['first online', 'second online'])

  expect(await supervisor.remove('first')).toEqual({ exitCode: EXIT.ok })
  expect([supervisor.list().map(({ name }) => name), shown()]).toEqual([['second'], ['second online']])
  await expect(ask('first')).rejects.toThrow()
  expect(await ask('second')).toBe('from the target')

  supervisor.add(command('first'))
  await expect.poll(() => state('first')).toBe('running')
  expect(await ask('first')).toBe('from the target')
  const ofFirst = ['first starting', 'first running', 'first ending', 'first ended', 'first removed']
  const ofSecond = ['second starting', 'second running']
  expect(events).toEqual([
    ...ofFirst.slice(0, 2),
    ...ofSecond,
    ...ofFirst.slice(2),
    'first starting',
    'first running',
  ])
  const told = reports.filter(({ event }) => event === 'online' || event === 'closed')
  expect(told.map((report) => [report.event, 'tunnel' in report && report.tunnel])).toEqual([
    ['online', 'first'],
    ['online', 'second'],
    ['closed', 'first'],
    ['online', 'first'],
  ])
})

it('takes no second tunnel of a name, nor a second one without', async () => {
  for (const name of ['taken', undefined]) {
    supervisor.add(command(name))
    expect(() => supervisor.add(command(name))).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  }
  expect(supervisor.list().map(({ name }) => name)).toEqual(['taken', undefined])
})

it('keeps a tunnel that did not begin, with its failure, until it is removed', async () => {
  const tunnel = supervisor.add(command('ported', { tcp: '5432' }))
  const end = await tunnel.ended
  expect(end).toEqual({
    exitCode: EXIT.refused,
    error: expect.objectContaining({ code: 'tcp_port_disabled' }),
  })
  expect([state('ported'), shown()]).toEqual(['ended', ['ported failed']])
  expect(reports).toEqual([expect.objectContaining({ event: 'error', tunnel: 'ported' })])
  expect(await supervisor.remove('ported')).toBe(end)
  expect([supervisor.list(), shown()]).toEqual([[], []])
  expect(events).toEqual(['ported starting', 'ported ended', 'ported removed'])
})

it('tells a wrong command as the end of its tunnel, and not as an error of add', async () => {
  const { error, exitCode } = await supervisor.add(command('wrong', { relay: [] })).ended
  expect([error, exitCode]).toEqual([expect.objectContaining({ code: 'invalid_option' }), EXIT.usage])
})

it('removes a tunnel that is still being connected', async () => {
  supervisor.add(command('early'))
  expect(await supervisor.remove('early')).toMatchObject({ exitCode: EXIT.ok })
  expect(supervisor.list()).toEqual([])
  expect(events).toEqual(['early starting', 'early ending', 'early ended', 'early removed'])
  expect(reports).toEqual([])
})

it('removes a tunnel once, however often it is asked to', async () => {
  supervisor.add(command('once'))
  await Promise.all([supervisor.remove('once'), supervisor.remove('once')])
  expect(events.filter((event) => event === 'once removed')).toHaveLength(1)
  expect(await supervisor.remove('once')).toBeUndefined()
})

it('ends all tunnels when it is closed, and takes no more', async () => {
  supervisor.add(command('one'))
  supervisor.add(command('two'))
  await expect.poll(() => [state('one'), state('two')]).toEqual(['running', 'running'])
  await supervisor.close()
  expect(supervisor.list().map(({ state }) => state)).toEqual(['ended', 'ended'])
  await expect(ask('one')).rejects.toThrow()
  expect(() => supervisor.add(command('three'))).toThrow(expect.objectContaining({ code: 'aborted' }))
})
