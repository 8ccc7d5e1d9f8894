// `svc` on a terminal: a view while something is online or waits, and the lines of any other output before and after.

import type { Board } from '../board.ts'
import { lineOf, type Tell } from '../report.ts'
import { Screen, type Terminal } from './screen.ts'
import { viewOf } from './view.ts'

export interface Live {
  tell: Tell
  /** Gives the terminal back: what is told from here on is lines. */
  close(): void
}

interface LiveOptions {
  board: Board
  /** Tells in lines. */
  print: Tell
  /** Lines have to say which tunnel they are about. */
  areSeveral: boolean
}

export function live(terminal: Terminal, { board, print, areSeveral }: LiveOptions): Live {
  const { notices } = board
  let isOver = false
  const screen = new Screen(terminal, (room) => {
    const told = notices.standing.map((notice) => lineOf(notice, areSeveral)!)
    return viewOf({ sites: board.figures(), requests: board.requests, notices: told, areSeveral }, room)
  })
  return {
    tell: (report) => {
      const isShown = report.event === 'online' || report.event === 'waiting'
      if (isShown && !isOver) screen.open()
      if (!screen.isOpen) {
        print(report)
        return
      }
      // what the line of a site itself shows need not be said
      notices.heard(report)
      screen.draw()
    },
    close: () => {
      isOver = true
      if (!screen.isOpen) return
      screen.close()
      // the other screen took them with it
      for (const { state, waiting, failure, ...site } of board.figures()) {
        const { tunnel, relay, url, canonical_url, tcp_address, udp_address } = site
        if (failure) print({ event: 'error', tunnel, relay, ...failure })
        else if (waiting) print({ event: 'waiting', tunnel, relay, ...waiting })
        else if (state === 'online')
          print({ event: 'online', tunnel, relay, url, canonical_url, tcp_address, udp_address })
      }
      for (const notice of notices.standing) print(notice)
    },
  }
}
