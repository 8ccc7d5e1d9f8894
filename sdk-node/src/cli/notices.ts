// What went wrong lately and may still be so, for the live view: a notice goes when it is not true any more.

import type { Report } from './report.ts'

export type Notice = Extract<Report, { event: 'error' }>

/** Without a word for this long nobody knows whether it is still true, in milliseconds: visitors come by chance. */
export const NOTICE_LIFE_MS = 30_000

/** Of a target; a tunnel that answers a visitor disproves it. */
const OF_THE_TARGET = 'target_unreachable'

export class Notices {
  /** By what they are about, the latest last. There are as many as tunnels, relays and codes. */
  readonly #notices = new Map<string, { notice: Notice; saidAt: number }>()

  /** Takes a notice in, or one back that the report disproves. */
  heard(report: Report): void {
    if (report.event === 'error') {
      const key = [report.tunnel, report.relay, report.code].join('\n')
      this.#notices.delete(key)
      this.#notices.set(key, { notice: report, saidAt: performance.now() })
    } else if (report.event === 'online') {
      this.#drop(
        ({ tunnel, relay }) => relay !== undefined && tunnel === report.tunnel && relay === report.relay,
      )
    }
  }

  /** The target of the tunnel answered a visitor. */
  answered(tunnel: string | undefined): void {
    this.#drop((notice) => notice.code === OF_THE_TARGET && notice.tunnel === tunnel)
  }

  /** Those that still stand, the oldest first. */
  get standing(): Notice[] {
    const now = performance.now()
    for (const [key, { saidAt }] of this.#notices)
      if (now - saidAt >= NOTICE_LIFE_MS) this.#notices.delete(key)
    return [...this.#notices.values()].map(({ notice }) => notice)
  }

  #drop(isOver: (notice: Notice) => boolean): void {
    for (const [key, { notice }] of this.#notices) if (isOver(notice)) this.#notices.delete(key)
  }
}
