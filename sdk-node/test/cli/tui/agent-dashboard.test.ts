// The live view of the agent: what a terminal shows of it, and what the keys do to an agent that answers.

import { EventEmitter } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { AGENT_PATH, type AgentStatus } from '../../../src/agent/api-messages.ts'
import { type Ask, showAgent } from '../../../src/cli/tui/agent-dashboard.ts'
import { renderAgentView } from '../../../src/cli/tui/agent-view.ts'
import { qrCode } from '../../../src/cli/tui/qr-code.ts'

const RELAY = { connections: 0, reconnects: 0, bytes_in: 0, bytes_out: 0 }
const STATUS: AgentStatus = {
  pid: 1,
  started_at: '2026-01-01T00:00:00.000Z',
  release_version: '0.1.0',
  url: 'http://127.0.0.1:4018',
  detached: false,
  config: { path: '/home/a/svc.toml' },
  tunnels: [
    {
      name: 'demo',
      state: 'running',
      target: '127.0.0.1:3000',
      can_be_shared: false,
      named_relays: ['https://relay.example'],
      relays: [
        {
          ...RELAY,
          relay: 'https://relay.example',
          url: 'https://demo.relay.example',
          state: 'online',
          rtt_ms: 12,
        },
      ],
    },
    { name: 'files', state: 'paused', target: 'public', can_be_shared: false, named_relays: [], relays: [] },
    {
      name: 'shop',
      state: 'ended',
      target: '8080',
      can_be_shared: false,
      named_relays: [],
      failure: { code: 'hostname_conflict', message: 'the name belongs to somebody else' },
      relays: [],
    },
  ],
  requests: [{ tunnel: 'demo', method: 'GET', path: '/a', status: 200, ms: 3 }],
  flows: [],
  knocks: [],
  errors: [{ tunnel: 'demo', code: 'target_unreachable', message: 'the target does not answer' }],
}
const HELP = '↑↓ choose  p pause  t try again  c QR code  r reload  q quit, the agent goes on'
const BASE = { status: STATUS, chosen: 0, hasCode: false, notice: undefined }

describe('the view', () => {
  it('shows each tunnel with its state, errors, the last requests and the keys', () => {
    expect(renderAgentView(BASE, { columns: 120, rows: 30 })).toEqual([
      'svc agent  http://127.0.0.1:4018  1 of 3 online  /home/a/svc.toml',
      '',
      '▸ demo → 127.0.0.1:3000  running',
      '    https://demo.relay.example  online  12 ms  0 connections  0 B in  0 B out',
      '  files → public  paused',
      '  shop → 8080  failed: the name belongs to somebody else',
      '! demo: the target does not answer',
      '',
      '200     3 ms  demo: GET /a',
      HELP,
    ])
  })

  it('has the QR code of the chosen tunnel, and says when there is none', () => {
    const room = { columns: 120, rows: 60 }
    const { lines } = qrCode('https://demo.relay.example')
    expect(renderAgentView({ ...BASE, hasCode: true }, room)).toEqual(expect.arrayContaining(lines))
    const paused = renderAgentView({ ...BASE, hasCode: true, chosen: 1 }, room)
    expect(paused).toContain('this tunnel has no URL at the moment')
    const [demo] = STATUS.tunnels
    const relays = [{ ...demo!.relays[0]!, url: 'https://demo.relay.localhost:4433' }]
    const status = { ...STATUS, tunnels: [{ ...demo!, relays }] }
    expect(renderAgentView({ ...BASE, status, hasCode: true }, room)).toContain(
      'only this machine can open its URL: no QR code leads another one there',
    )
  })

  it('fits every terminal, keeps the chosen tunnel in it, and passes no control character on', () => {
    const tunnels = Array.from({ length: 50 }, (_, place) => ({
      ...STATUS.tunnels[0]!,
      name: `t${place}\x1b[2J`,
    }))
    const status = { ...STATUS, tunnels }
    for (const columns of [1, 20, 200])
      for (const rows of [1, 2, 6, 24]) {
        const lines = renderAgentView(
          { ...BASE, status, chosen: 33, notice: 'n'.repeat(300) },
          { columns, rows },
        )
        expect(lines.length).toBeLessThanOrEqual(rows)
        for (const line of lines) {
          expect(Array.from(line).length).toBeLessThanOrEqual(columns)
          expect(line).not.toMatch(/\p{Cc}/u)
        }
        if (rows >= 6 && columns >= 20) expect(lines.join('\n')).toContain('▸ t33')
      }
  })

  it('says once why a tunnel failed, though its relay and the log say so, too', () => {
    const failure = { code: 'relay_unreachable', message: 'nothing listens there' }
    const relay = { ...RELAY, relay: 'https://relay.example', state: 'failed' as const, failure }
    const tunnels = [{ ...STATUS.tunnels[2]!, failure, relays: [relay] }]
    const status = { ...STATUS, tunnels, errors: [{ tunnel: 'shop', ...failure }] }
    const text = renderAgentView({ ...BASE, status }, { columns: 120, rows: 30 }).join('\n')
    expect(text.split('nothing listens there')).toHaveLength(2)
  })

  it('says what to do when there is no tunnel, and waits for the first answer', () => {
    const empty = renderAgentView({ ...BASE, status: { ...STATUS, tunnels: [] } }, { columns: 120, rows: 9 })
    expect(empty).toContain('no tunnel yet: add one at the page of svc agent open, or in svc.toml')
    expect(renderAgentView({ ...BASE, status: undefined }, { columns: 120, rows: 9 })).toEqual(['…', HELP])
  })
})

describe('the keys', () => {
  class Keys extends EventEmitter {
    isRaw = false
    setRawMode(isRaw: boolean): void {
      this.isRaw = isRaw
    }
    resume(): void {}
    pause(): void {}
  }

  function start(answer: (path: string) => unknown = () => STATUS) {
    const asked: unknown[] = []
    const ask: Ask = async (method, path, body) => {
      if (method === 'POST') asked.push([path, body])
      return (await answer(path)) as never
    }
    const frames: string[] = []
    const terminal = Object.assign(new EventEmitter(), {
      columns: 120,
      rows: 40,
      write: (text: string) => void frames.push(text),
    })
    const keyboard = new Keys()
    const controller = new AbortController()
    const shown = showAgent(ask, { terminal, keyboard }, controller.signal)
    const last = (): string => frames.at(-1) ?? ''
    return {
      asked,
      keyboard,
      terminal,
      shown,
      last,
      controller,
      press: (keys: string) => keyboard.emit('data', keys),
    }
  }

  it('choose, pause, resume and reload; q leaves the terminal as it was', async () => {
    const { asked, keyboard, shown, last, press } = start()
    await vi.waitFor(() => expect(last()).toContain('▸ demo'))
    expect(keyboard.isRaw).toBe(true)
    press('p')
    await vi.waitFor(() => expect(last()).toContain('demo is paused'))
    press('\x1b[B')
    await vi.waitFor(() => expect(last()).toContain('▸ files'))
    press('p')
    await vi.waitFor(() => expect(last()).toContain('files starts'))
    // all at once, and further than there are tunnels
    press('jjjjt')
    await vi.waitFor(() => expect(last()).toContain('shop starts'))
    press('\x1b[Ar')
    await vi.waitFor(() => expect(last()).toContain('the agent has read svc.toml again'))
    expect(last()).toContain('▸ files')
    press('q')
    await shown
    expect(asked).toEqual([
      [AGENT_PATH.pauseTunnel, { name: 'demo' }],
      [AGENT_PATH.resumeTunnel, { name: 'files' }],
      [AGENT_PATH.resumeTunnel, { name: 'shop' }],
      [AGENT_PATH.reload, {}],
    ])
    expect(keyboard.isRaw).toBe(false)
    expect(keyboard.listenerCount('data')).toBe(0)
    expect(last()).toContain('\x1b[?1049l')
  })

  it('say what the agent refuses, and that it does not answer', async () => {
    let isThere = true
    const { shown, last, press } = start((path) => {
      if (!isThere) throw new Error('no agent answers at http://127.0.0.1:4018')
      if (path === AGENT_PATH.pauseTunnel) throw new Error('svc.toml was edited meanwhile')
      return STATUS
    })
    await vi.waitFor(() => expect(last()).toContain('▸ demo'))
    press('p')
    await vi.waitFor(() => expect(last()).toContain('svc.toml was edited meanwhile'))
    isThere = false
    await vi.waitFor(() => expect(last()).toContain('no agent answers at http://127.0.0.1:4018'), 5_000)
    isThere = true
    await vi.waitFor(() => expect(last()).toContain('▸ demo'), 5_000)
    press('\x03')
    await shown
  })

  it('a signal ends it, too', async () => {
    const { shown, controller, keyboard } = start()
    controller.abort()
    await shown
    expect(keyboard.isRaw).toBe(false)
  })
})
