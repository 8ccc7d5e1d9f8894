// `svc` on a terminal: a live view while a site is online or waits, and plain lines before and after.

import type { Report, Reporter, SiteStatus } from '../report/report.ts'
import { formatReport } from '../report/reporter.ts'
import type { StatusStore } from '../report/status-store.ts'
import { InspectKey } from './inspect-key.ts'
import type { Keyboard } from './keyboard.ts'
import { followKeys, KnockKeys } from './knock-keys.ts'
import { Screen, type Terminal } from './screen.ts'
import { renderView } from './view.ts'

export interface Tui {
  tell: Reporter
  /** Restores the terminal: later reports are lines. */
  close(): void
}

interface LiveOptions {
  store: StatusStore
  /** Prints reports as lines. */
  print: Reporter
  /** Whether lines must name their tunnel. */
  areSeveral: boolean
  /** Omitted when there is none. */
  keyboard?: Keyboard | undefined
  /** Whether visitors may knock, whom the keys answer. */
  hasKnocks?: boolean | undefined
  /** Resolves with the address of the inspector's page. Omitted when there are no requests to inspect. */
  look?: (() => Promise<string>) | undefined
}

/** Rings the terminal's bell (ECMA-48 §8.3.3). */
const BELL = '\x07'

export function startTui(
  terminal: Terminal,
  { store, print, areSeveral, keyboard, hasKnocks, look }: LiveOptions,
): Tui {
  const { recentErrors } = store
  const knockKeys = keyboard && hasKnocks ? new KnockKeys(store) : undefined
  const inspectKey = keyboard && look ? new InspectKey(look, () => screen.draw()) : undefined
  let isOver = false
  /** Reports of newer releases, which stay valid while the view is open. */
  const updates: Report[] = []
  const screen = new Screen(terminal, (room) => {
    const lines = [...updates, ...recentErrors.standing].map((notice) => formatReport(notice, areSeveral)!)
    const told = [...new Set(lines), ...(inspectKey?.lines() ?? [])]
    const knocks = knockKeys?.lines() ?? []
    return renderView(
      {
        sites: store.snapshot(),
        visits: store.visits,
        knocks,
        notices: told,
        areSeveral,
        canInspect: inspectKey !== undefined,
      },
      room,
    )
  })
  let release: (() => void) | undefined
  const takeKeys = (): void => {
    if (!keyboard || (!knockKeys && !inspectKey) || release) return
    release = followKeys(keyboard, (key) => {
      knockKeys?.press(key)
      inspectKey?.press(key)
      screen.draw()
    })
  }
  return {
    tell: (report) => {
      const isShown = report.event === 'online' || report.event === 'waiting'
      if (isShown && !isOver) {
        screen.open()
        takeKeys()
      }
      if (!screen.isOpen) {
        print(report)
        return
      }
      if (report.event === 'knock') terminal.write(BELL)
      if (report.event === 'update') updates.push(report)
      // The line of the site already shows its state.
      recentErrors.record(report)
      screen.draw()
    },
    close: () => {
      isOver = true
      release?.()
      if (!screen.isOpen) return
      screen.close()
      // Leaving the alternate screen removed these lines.
      const lines = store.snapshot().flatMap(lastReport)
      for (const report of [...lines, ...updates, ...recentErrors.standing]) print(report)
    },
  }
}

function lastReport({ state, waiting, failure, ...site }: SiteStatus): Report[] {
  const { tunnel, relay, url, canonical_url, share_url, tcp_address, udp_address, targets } = site
  if (failure) return [{ event: 'error', tunnel, relay, ...failure }]
  if (waiting) return [{ event: 'waiting', tunnel, relay, ...waiting }]
  if (state !== 'online') return []
  const addresses = { url, canonical_url, share_url, tcp_address, udp_address }
  return [{ event: 'online', tunnel, relay, ...addresses, targets }]
}
