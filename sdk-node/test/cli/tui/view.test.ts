// The live view as a terminal would show it: what fits, what is left out, and the state in which it leaves the terminal.

import { EventEmitter } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { ERROR_LIFE_MS, type ErrorReport, RecentErrors } from '../../../src/cli/report/recent-errors.ts'
import type { Report, SiteStatus } from '../../../src/cli/report/report.ts'
import { formatReport } from '../../../src/cli/report/reporter.ts'
import { REQUESTS_KEPT, StatusStore } from '../../../src/cli/report/status-store.ts'
import { qrCode } from '../../../src/cli/tui/qr-code.ts'
import { Screen } from '../../../src/cli/tui/screen.ts'
import { startTui } from '../../../src/cli/tui/tui.ts'
import { renderView } from '../../../src/cli/tui/view.ts'

const SITE = {
  relay: 'https://relay.example',
  url: 'https://demo.relay.example',
  canonical_url: 'https://demo-0.relay.example',
  state: 'online',
  rtt_ms: 12.3,
  connections: 1,
  reconnects: 0,
  bytes_in: 999,
  bytes_out: 1_234_567,
} satisfies SiteStatus
const REQUEST = { event: 'request' as const, method: 'GET', path: '/a', status: 200, ms: 3.4 }
const SMALL = { columns: 60, rows: 12 }
const QUIET = { notices: [], areSeveral: false }
const QR_LINES = qrCode(SITE.url).lines

describe('the view', () => {
  it('shows URL, figures, the last requests, and how it is ended', () => {
    const visits = [REQUEST, { ...REQUEST, method: 'POST', path: '/b', status: 502, ms: 1234 }]
    expect(
      renderView({ sites: [SITE], visits, notices: ['svc: it is down'], areSeveral: false }, SMALL),
    ).toEqual([
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
      renderView({ sites: [SITE], visits: [], ...QUIET }, { columns, rows })
    expect(at(80, 40).slice(0, QR_LINES.length)).toEqual(QR_LINES)
    expect(at(qrCode(SITE.url).width - 1, 40)).not.toContain(QR_LINES[0])
    expect(at(80, QR_LINES.length + 3)).not.toContain(QR_LINES[0])
  })

  it('never has more lines or columns than the terminal, and keeps the URL for longest', () => {
    const sites = [{ ...SITE, tcp_address: 'relay.example:30001', probe: 'suspected' as const }, SITE, SITE]
    const visits = Array.from({ length: 50 }, () => ({ ...REQUEST, path: `/${'long'.repeat(100)}` }))
    for (const columns of [1, 2, 10, 40, 200])
      for (const rows of [1, 2, 3, 5, 10, 60]) {
        const lines = renderView(
          { sites, visits, notices: Array(9).fill('n'.repeat(500)), areSeveral: true },
          { columns, rows },
        )
        expect(lines.length).toBeLessThanOrEqual(rows)
        for (const line of lines) if (!line.includes('\x1b')) expect(line.length).toBeLessThanOrEqual(columns)
        if (rows >= 3 && columns >= 40) expect(lines.join('\n')).toContain(SITE.url)
      }
  })

  it('shows tunnels that wait or failed, and names each where there are several', () => {
    const waiting: SiteStatus = {
      ...SITE,
      tunnel: 'web',
      state: 'waiting',
      waiting: { reason: 'approval' },
    }
    const full: SiteStatus = {
      ...SITE,
      tunnel: 'game',
      url: undefined,
      udp_address: 'relay.example:30001',
      state: 'waiting',
      waiting: { reason: 'relay_full', until: '2026-01-02T03:04:05.678Z' },
    }
    const uncertified: SiteStatus = { ...waiting, tunnel: 'own', waiting: { reason: 'certificate' } }
    const failed: SiteStatus = {
      ...SITE,
      tunnel: 'db',
      url: undefined,
      state: 'failed',
      failure: { code: 'tcp_port_disabled', message: 'this relay gives no TCP ports' },
    }
    const visits = [{ ...REQUEST, tunnel: 'web' }]
    const lines = renderView(
      { sites: [waiting, uncertified, full, failed], visits, notices: [], areSeveral: true },
      { columns: 120, rows: 14 },
    )
    const clock = new Date('2026-01-02T03:04:05.678Z').toTimeString().slice(0, 8)
    expect(lines).toEqual([
      'https://demo.relay.example',
      "  web: waiting for the approval of the relay's operator  12.3 ms  1 connection  999 B in  1.2 MB out",
      'https://demo.relay.example',
      '  own: waiting for its certificate from the relay  12.3 ms  1 connection  999 B in  1.2 MB out',
      'udp://relay.example:30001',
      `  game: waiting for room at the relay, which is asked again at ${clock}  12.3 ms  1 connection  999 B in  1.2 MB out`,
      'db at https://relay.example',
      '  db: failed: this relay gives no TCP ports',
      '',
      '200     3 ms  web: GET /a',
      '',
      'Ctrl-C takes it off the relay',
    ])
  })

  it('has the QR code of a site that visitors can reach', () => {
    const waiting: SiteStatus = { ...SITE, state: 'waiting', waiting: { reason: 'approval' } }
    expect(renderView({ sites: [waiting], visits: [], ...QUIET }, { columns: 80, rows: 40 })).not.toContain(
      QR_LINES[0],
    )
  })

  it('has the link that waits for the site, and its QR code', () => {
    const share_url = 'https://relay.example/go/demo'
    const lines = renderView(
      { sites: [{ ...SITE, share_url }], visits: [], ...QUIET },
      { columns: 60, rows: 40 },
    )
    expect(lines).toContain(`  to share: ${share_url}`)
    const code = qrCode(share_url).lines
    expect(lines.slice(0, code.length)).toEqual(code)
    expect(formatReport({ event: 'online', relay: SITE.relay, url: SITE.url, share_url })).toBe(
      `${SITE.url}  to share: ${share_url}`,
    )
  })

  it('has no QR code of a URL that only this machine can open, and that of the first other one', () => {
    const here = { ...SITE, url: 'https://demo.relay.localhost:4433' }
    const room = { columns: 80, rows: 40 }
    const without = renderView({ sites: [here], visits: [], ...QUIET }, room)
    expect(without.join('')).not.toContain('\x1b')
    expect(without).toContain(here.url)
    const both = renderView({ sites: [here, SITE], visits: [], ...QUIET }, room)
    expect(both.slice(0, QR_LINES.length)).toEqual(QR_LINES)
  })

  it('says that a relay reads what passes', () => {
    const view = renderView(
      { sites: [{ ...SITE, probe: 'suspected' }], visits: [], ...QUIET },
      { ...SMALL, columns: 80 },
    )
    expect(view).toContain('  https://relay.example answers visitors itself and can read their traffic')
  })

  it('says until when the relay keeps a copy, where it can read, and that the copy stays', () => {
    const { hours, text } = soon()
    const cache = { present: true, expires_at: text }
    const room = { columns: 140, rows: 12 }
    const view = renderView({ sites: [{ ...SITE, cache }], visits: [], ...QUIET }, room)
    expect(view).toContain(
      `  the relay keeps a copy until ${hours} and can read what passes at ${SITE.canonical_url}`,
    )
    expect(view.at(-1)).toBe('Ctrl-C takes it off the relay, which keeps its copy')
    const none = { ...SITE, cache: { present: false } }
    expect(renderView({ sites: [none], visits: [], ...QUIET }, room).join()).not.toContain('copy')
  })

  it('lets nothing that others chose reach the terminal as a command', () => {
    const hostile = { ...REQUEST, path: '/\x1b[2J\x9b2J\r\n\x07' }
    const lines = renderView(
      { sites: [SITE], visits: [hostile], notices: ['\x1b]0;title\x07'], areSeveral: false },
      SMALL,
    )
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

it('the view shows whose flows of a UDP service have begun, among the requests, and how much of the address it may', () => {
  const store = new StatusStore()
  const local_port = 50_000
  store.requested(REQUEST)
  store.flowOpened({ address: '192.0.2.0/24', local_port })
  store.flowOpened({ local_port })
  store.flowOpened({ tunnel: 'game', address: '2001:db8::1', port: 7, local_port })
  const view = { sites: [SITE], visits: store.visits, notices: [], areSeveral: true }
  expect(renderView(view, SMALL).slice(3, 7)).toEqual([
    '200     3 ms  GET /a',
    'udp  192.0.2.0/24 comes from port 50000',
    'udp  a visitor comes from port 50000',
    'udp  game: [2001:db8::1]:7 comes from port 50000',
  ])
  // A flood of flows does not push the requests out of what the agent reports.
  for (let at = 0; at < REQUESTS_KEPT; at++) store.flowOpened({ local_port })
  expect([store.visits.length, store.requests.length]).toEqual([REQUESTS_KEPT, 1])
})

it('a store forgets all but the last requests', () => {
  const store = new StatusStore()
  for (let at = 0; at < REQUESTS_KEPT + 5; at++) store.requested({ ...REQUEST, path: `/${at}` })
  expect(store.requests).toHaveLength(REQUESTS_KEPT)
  expect(store.requests[0]!.path).toBe('/5')
})

/** A time that is today, unless the day is about to end. */
function soon(): { hours: string; text: string } {
  const now = new Date()
  return { hours: now.toTimeString().slice(0, 8), text: now.toISOString() }
}

describe('a copy in words', () => {
  const about = { relay: SITE.relay, canonical_url: SITE.canonical_url }
  const LATER = '2030-02-03T04:05:06.789Z'
  const clock = `2030-02-03 ${new Date(LATER).toTimeString().slice(0, 8)}`

  it('says who shows it where and until when, and who can read what', () => {
    expect(formatReport({ event: 'cache', ...about, present: true, expires_at: LATER })).toBe(
      `https://relay.example keeps a copy until ${clock}, also when svc ends: https://demo-0.relay.example shows it, and the relay can read what passes there`,
    )
    expect(formatReport({ event: 'cache', ...about, present: false })).toBe(
      'https://relay.example has no copy of the files any more',
    )
  })

  it('says that it stays when the site is taken off, and when nothing stays', () => {
    const closed = { event: 'closed', relay: SITE.relay } as const
    expect(formatReport({ ...closed, cache: { present: true, expires_at: LATER } })).toBe(
      `taken off https://relay.example, which keeps its copy until ${clock} at the latest`,
    )
    expect(formatReport(closed)).toBe('taken off https://relay.example')
  })

  it('says that something else answers at a domain', () => {
    const said =
      'shop.example.org is answered with a key that is not the site’s, as by a relay that ends TLS itself'
    const domain = 'shop.example.org'
    const report = { event: 'probe', relay: SITE.relay, domain } as const
    expect(formatReport({ ...report, verdict: 'suspected' })).toBe(`svc: ${said}`)
    expect(formatReport({ ...report, verdict: 'not_seen_from_here' })).toBeUndefined()
    const status = { domain, online: true, state: 'active', records: [], certificate: 'valid' } as const
    const domains = [{ ...status, protected: true, probe: 'suspected' as const }]
    const view = renderView(
      { sites: [{ ...SITE, domains }], visits: [], ...QUIET },
      { columns: 200, rows: 60 },
    )
    expect(view).toContain(`  ${said}`)
  })

  it('says why nothing is probed', () => {
    expect(formatReport({ event: 'probe', relay: SITE.relay, verdict: 'cached' })).toMatch(
      /^svc: https:\/\/relay\.example has a copy of the files and ends TLS at the only URL of the site/,
    )
  })
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

const online: Report = {
  event: 'online',
  relay: SITE.relay,
  url: SITE.url,
  canonical_url: SITE.canonical_url,
}
const down: Report = { event: 'error', code: 'target_unreachable', message: 'it is down' }

describe('what is told', () => {
  it('is lines until something is online, then the view, and lines again', () => {
    const terminal = new FakeTerminal()
    const printed: Report[] = []
    const print = (report: Report): unknown => printed.push(report)
    const { tell, close } = startTui(terminal, { store: new StatusStore(), print, areSeveral: false })
    tell(down)
    expect([printed, terminal.written]).toEqual([[down], ''])
    tell(online)
    tell({ ...down, message: 'once more' })
    expect(printed).toHaveLength(1)
    expect(terminal.written).toContain('svc: once more')
    close()
    // the notice stays readable behind the view
    expect(printed.at(-1)).toEqual({ ...down, message: 'once more' })
    tell({ event: 'closed', relay: SITE.relay })
    tell(online)
    expect(printed).toHaveLength(4)
    expect(terminal.written.endsWith('\x1b[?1049l')).toBe(true)
  })

  it('is a view for a site that waits, too; tunnels that wait or failed are told again behind it', () => {
    const terminal = Object.assign(new FakeTerminal(), { columns: 120 })
    const store = new StatusStore()
    const row = { relay: SITE.relay, site: undefined, hasWeb: true, position: 0 }
    store.add({ ...row, tunnel: 'db', failure: { code: 'tcp_port_disabled', message: 'no ports' } })
    const printed: string[] = []
    const print = (report: Report): unknown => printed.push(formatReport(report, true)!)
    const { tell, close } = startTui(terminal, { store, print, areSeveral: true })
    tell({ event: 'waiting', tunnel: 'web', relay: SITE.relay, reason: 'approval' })
    tell({ ...down, tunnel: 'web' })
    expect(terminal.written).toContain('db: failed: no ports')
    expect(terminal.written).toContain('svc: web: it is down')
    close()
    expect(printed).toEqual(['svc: db: no ports', 'svc: web: it is down'])
  })
})

describe('a notice', () => {
  const lost: ErrorReport = { event: 'error', relay: SITE.relay, code: 'relay_unreachable', message: 'lost' }
  const of = (tunnel: string): ErrorReport => ({
    event: 'error',
    tunnel,
    code: 'target_unreachable',
    message: 'down',
  })

  it('of a target goes when its tunnel answers a visitor, and stays when another does', () => {
    const store = new StatusStore()
    store.recentErrors.record(of('a'))
    store.recentErrors.record(of('b'))
    store.requested({ ...REQUEST, tunnel: 'a', status: 502 })
    store.requested({ ...REQUEST, tunnel: 'b' })
    expect(store.recentErrors.standing).toEqual([of('a')])
  })

  it('of a relay goes when its site is online again, and stays when another is', () => {
    const notices = new RecentErrors()
    notices.record(lost)
    notices.record(of('a'))
    notices.record({ ...online, relay: 'https://other.example' })
    notices.record({ ...online, tunnel: 'another' })
    expect(notices.standing).toEqual([lost, of('a')])
    notices.record(online)
    expect(notices.standing).toEqual([of('a')])
  })

  it('goes when nobody has said it again for a while, and is there once', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const notices = new RecentErrors()
    notices.record(of('a'))
    notices.record(lost)
    vi.advanceTimersByTime(ERROR_LIFE_MS - 1)
    notices.record({ ...of('a'), message: 'still down' })
    vi.advanceTimersByTime(1)
    expect(notices.standing).toEqual([{ ...of('a'), message: 'still down' }])
    vi.useRealTimers()
  })

  it('of a target that is watched stays until that is resolved, whatever another target answers', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const store = new StatusStore()
    const { recentErrors } = store
    const [web, api] = ['http://localhost:1', 'http://localhost:2'].map((target) => ({ ...of('a'), target }))
    recentErrors.record(web!)
    recentErrors.record(api!)
    vi.advanceTimersByTime(2 * ERROR_LIFE_MS)
    store.requested({ ...REQUEST, tunnel: 'a' })
    expect(recentErrors.standing).toEqual([web, api])
    const code = 'target_unreachable'
    recentErrors.record({ event: 'resolved', tunnel: 'b', target: web!.target, code })
    recentErrors.record({ event: 'resolved', tunnel: 'a', target: web!.target, code })
    expect(recentErrors.standing).toEqual([api])
    recentErrors.ended('a')
    expect(recentErrors.standing).toEqual([])
    vi.useRealTimers()
  })
})
