// The live view as a terminal would show it: what fits, what is left out, and what the terminal is left with.

import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Board, REQUESTS_KEPT, type SiteFigures } from '../src/cli/board.ts'
import { live } from '../src/cli/live/live.ts'
import { qrCode } from '../src/cli/live/qr.ts'
import { Screen } from '../src/cli/live/screen.ts'
import { viewOf } from '../src/cli/live/view.ts'
import type { Report } from '../src/cli/report.ts'

const SITE: SiteFigures = {
  relay: 'https://relay.example',
  url: 'https://demo.relay.example',
  canonical_url: 'https://demo-0.relay.example',
  state: 'online',
  rtt_ms: 12.3,
  connections: 1,
  reconnects: 0,
  bytes_in: 999,
  bytes_out: 1_234_567,
}
const REQUEST = { method: 'GET', path: '/a', status: 200, ms: 3.4 }
const SMALL = { columns: 60, rows: 12 }
const QR_LINES = qrCode(SITE.url).lines

describe('the view', () => {
  it('shows URL, figures, the last requests, and how it is ended', () => {
    const requests = [REQUEST, { method: 'POST', path: '/b', status: 502, ms: 1234 }]
    expect(viewOf({ sites: [SITE], requests, notice: 'svc: it is down' }, SMALL)).toEqual([
      'https://demo.relay.example',
      '  online  12.3 ms  1 connection  999 B in  1.2 MB out',
      '',
      '200     3 ms  GET /a',
      '502  1234 ms  POST /b',
      '',
      'svc: it is down',
      'Ctrl-C takes it off the relay',
    ])
  })

  it('has a QR code where there is room for it and for some requests', () => {
    const at = (columns: number, rows: number): string[] =>
      viewOf({ sites: [SITE], requests: [], notice: undefined }, { columns, rows })
    expect(at(80, 40).slice(0, QR_LINES.length)).toEqual(QR_LINES)
    expect(at(qrCode(SITE.url).width - 1, 40)).not.toContain(QR_LINES[0])
    expect(at(80, QR_LINES.length + 3)).not.toContain(QR_LINES[0])
  })

  it('never has more lines or columns than the terminal, and keeps the URL for longest', () => {
    const sites = [{ ...SITE, tcp_address: 'relay.example:30001', probe: 'suspected' as const }, SITE, SITE]
    const requests = Array.from({ length: 50 }, () => ({ ...REQUEST, path: `/${'long'.repeat(100)}` }))
    for (const columns of [1, 2, 10, 40, 200])
      for (const rows of [1, 2, 3, 5, 10, 60]) {
        const lines = viewOf({ sites, requests, notice: 'n'.repeat(500) }, { columns, rows })
        expect(lines.length).toBeLessThanOrEqual(rows)
        for (const line of lines) if (!line.includes('\x1b')) expect(line.length).toBeLessThanOrEqual(columns)
        if (rows >= 3 && columns >= 40) expect(lines.join('\n')).toContain(SITE.url)
      }
  })

  it('says that a relay reads what passes', () => {
    const view = viewOf(
      { sites: [{ ...SITE, probe: 'suspected' }], requests: [], notice: undefined },
      { ...SMALL, columns: 80 },
    )
    expect(view).toContain('  https://relay.example answers visitors itself: what passes can be read')
  })

  it('lets nothing that others chose reach the terminal as a command', () => {
    const hostile = { ...REQUEST, path: '/\x1b[2J\x9b2J\r\n\x07' }
    const lines = viewOf({ sites: [SITE], requests: [hostile], notice: '\x1b]0;title\x07' }, SMALL)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    for (const line of lines) expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/)
  })
})

it('a QR code holds the URL, in black and white', () => {
  const { lines, width } = qrCode(SITE.url)
  expect(lines).toHaveLength(Math.ceil(width / 2))
  for (const line of lines) {
    expect(line.startsWith('\x1b[38;5;16;48;5;231m') && line.endsWith('\x1b[0m')).toBe(true)
    expect(line.slice(19, -4)).toMatch(/^[ ▀▄█]+$/)
    expect(line.slice(19, -4)).toHaveLength(width)
  }
})

it('a board forgets all but the last requests', () => {
  const board = new Board()
  for (let at = 0; at < REQUESTS_KEPT + 5; at++) board.requested({ ...REQUEST, path: `/${at}` })
  expect(board.requests).toHaveLength(REQUESTS_KEPT)
  expect(board.requests[0]!.path).toBe('/5')
})

class FakeTerminal extends EventEmitter {
  columns = 40
  rows = 10
  written = ''
  write(text: string): void {
    this.written += text
  }
}

describe('the screen', () => {
  it('is entered, drawn from the top without scrolling, and left with cursor and wrapping as before', () => {
    const terminal = new FakeTerminal()
    const listeners = () => ['exit', 'SIGTSTP', 'SIGCONT'].map((event) => process.listenerCount(event))
    const before = listeners()
    const screen = new Screen(terminal, () => ['one', 'two'])
    screen.open()
    expect(terminal.written).toBe('\x1b[?1049h\x1b[?25l\x1b[?7l' + '\x1b[H\x1b[J' + 'one\r\ntwo')
    terminal.written = ''
    screen.close()
    screen.close()
    expect(terminal.written).toBe('\x1b[?7h\x1b[?25h\x1b[?1049l')
    expect(terminal.listenerCount('resize')).toBe(0)
    expect(listeners()).toEqual(before)
  })

  it('is not drawn again while nothing changed, but when the terminal was resized', () => {
    const terminal = new FakeTerminal()
    const screen = new Screen(terminal, ({ columns }) => [`${columns}`])
    screen.open()
    terminal.written = ''
    screen.draw()
    expect(terminal.written).toBe('')
    terminal.columns = 20
    terminal.emit('resize')
    expect(terminal.written).toContain('20')
    screen.close()
  })

  it('does with a terminal that does not know its size', () => {
    const terminal = Object.assign(new FakeTerminal(), { columns: 0, rows: 0 })
    const screen = new Screen(terminal, ({ columns, rows }) => [`${columns}x${rows}`])
    screen.open()
    expect(terminal.written).toContain('80x24')
    screen.close()
  })

  it('is left when the process ends in any way', () => {
    const terminal = new FakeTerminal()
    const before = new Set(process.listeners('exit'))
    new Screen(terminal, () => []).open()
    const [added] = process.listeners('exit').filter((listener) => !before.has(listener))
    added!(0)
    expect(terminal.written).toContain('\x1b[?25h')
  })
})

describe('what is told', () => {
  const online: Report = {
    event: 'online',
    relay: SITE.relay,
    url: SITE.url,
    canonical_url: SITE.canonical_url,
  }
  const failed: Report = { event: 'error', code: 'target_unreachable', message: 'it is down' }

  it('is lines until something is online, then the view, and lines again', () => {
    const terminal = new FakeTerminal()
    const printed: Report[] = []
    const { tell, close } = live(terminal, new Board(), (report) => printed.push(report))
    tell(failed)
    expect([printed, terminal.written]).toEqual([[failed], ''])
    tell(online)
    tell({ ...failed, message: 'once more' })
    expect(printed).toHaveLength(1)
    expect(terminal.written).toContain('svc: once more')
    close()
    // the notice stays readable behind the view
    expect(printed.at(-1)).toEqual({ ...failed, message: 'once more' })
    tell({ event: 'closed', relay: SITE.relay })
    tell(online)
    expect(printed).toHaveLength(4)
    expect(terminal.written.endsWith('\x1b[?1049l')).toBe(true)
  })
})
