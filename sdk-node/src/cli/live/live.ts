// `svc` on a terminal: a view while something is online, and the lines of any other output before and after.

import type { Board } from '../board.ts'
import { lineOf, type Report, type Tell } from '../report.ts'
import { Screen, type Terminal } from './screen.ts'
import { viewOf } from './view.ts'

export interface Live {
  tell: Tell
  /** Gives the terminal back: what is told from here on is lines. */
  close(): void
}

/** @param print tells in lines */
export function live(terminal: Terminal, board: Board, print: Tell): Live {
  let notice: Report | undefined
  let isOver = false
  const screen = new Screen(terminal, (room) =>
    viewOf({ sites: board.figures(), requests: board.requests, notice: notice && lineOf(notice) }, room),
  )
  return {
    tell: (report) => {
      if (report.event === 'online' && !isOver) screen.open()
      if (!screen.isOpen) {
        print(report)
        return
      }
      // what the site's own line shows need not be said
      if (report.event === 'error') notice = report
      screen.draw()
    },
    close: () => {
      isOver = true
      if (!screen.isOpen) return
      screen.close()
      // the other screen took them with it
      for (const { relay, url, canonical_url, tcp_address, udp_address } of board.figures())
        print({ event: 'online', relay, url, canonical_url, tcp_address, udp_address })
      if (notice !== undefined) print(notice)
    },
  }
}
