// `svc` on a terminal: a live view while a site is online or waits, and plain lines before and after.

import type { Report, Reporter } from '../report/report.ts'
import { formatReport } from '../report/reporter.ts'
import type { StatusStore } from '../report/status-store.ts'
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
}

export function startTui(terminal: Terminal, { store, print, areSeveral }: LiveOptions): Tui {
  const { recentErrors } = store
  let isOver = false
  /** Reports of newer releases, which stay valid while the view is open. */
  const updates: Report[] = []
  const screen = new Screen(terminal, (room) => {
    const lines = [...updates, ...recentErrors.standing].map((notice) => formatReport(notice, areSeveral)!)
    const told = [...new Set(lines)]
    return renderView({ sites: store.snapshot(), requests: store.requests, notices: told, areSeveral }, room)
  })
  return {
    tell: (report) => {
      const isShown = report.event === 'online' || report.event === 'waiting'
      if (isShown && !isOver) screen.open()
      if (!screen.isOpen) {
        print(report)
        return
      }
      if (report.event === 'update') updates.push(report)
      // The line of the site already shows its state.
      recentErrors.record(report)
      screen.draw()
    },
    close: () => {
      isOver = true
      if (!screen.isOpen) return
      screen.close()
      // Leaving the alternate screen removed these lines.
      for (const { state, waiting, failure, ...site } of store.snapshot()) {
        const { tunnel, relay, url, canonical_url, tcp_address, udp_address } = site
        if (failure) print({ event: 'error', tunnel, relay, ...failure })
        else if (waiting) print({ event: 'waiting', tunnel, relay, ...waiting })
        else if (state === 'online')
          print({ event: 'online', tunnel, relay, url, canonical_url, tcp_address, udp_address })
      }
      for (const notice of [...updates, ...recentErrors.standing]) print(notice)
    },
  }
}
