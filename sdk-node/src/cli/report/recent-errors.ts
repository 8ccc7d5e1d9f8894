// The recent errors for the live view: each is shown until it is disproved, or too old if nobody looks whether it is still true.

import type { Report } from './report.ts'

export type ErrorReport = Extract<Report, { event: 'error' }>

/** How long an error is shown, in milliseconds: without new visitors, it may no longer be true. */
export const ERROR_LIFE_MS = 30_000

/** The code of an error of a target; a tunnel that answers a visitor disproves it. */
const OF_THE_TARGET = 'target_unreachable'

export class RecentErrors {
  /** The notices by subject, latest last: at most one for each tunnel, relay, code and target. */
  readonly #notices = new Map<string, { notice: ErrorReport; saidAt: number }>()

  /** Adds a notice, or removes one that the report disproves. */
  record(report: Report): void {
    if (report.event === 'error') {
      const key = [report.tunnel, report.relay, report.code, report.target].join('\n')
      this.#notices.delete(key)
      this.#notices.set(key, { notice: report, saidAt: performance.now() })
    } else if (report.event === 'online') {
      this.#drop(
        ({ tunnel, relay }) => relay !== undefined && tunnel === report.tunnel && relay === report.relay,
      )
    } else if (report.event === 'resolved') {
      this.#drop(({ tunnel, target }) => target === report.target && tunnel === report.tunnel)
    }
  }

  /** Removes the notice about a target, because the tunnel answered a visitor: unless its target is watched. */
  answered(tunnel: string | undefined): void {
    this.#drop((notice) => notice.code === OF_THE_TARGET && notice.tunnel === tunnel && !notice.target)
  }

  /** Removes the notices about the targets of a tunnel that has ended. */
  ended(tunnel: string | undefined): void {
    this.#drop((notice) => notice.target !== undefined && notice.tunnel === tunnel)
  }

  /** The notices that are still shown, oldest first. */
  get standing(): ErrorReport[] {
    const now = performance.now()
    for (const [key, { notice, saidAt }] of this.#notices)
      if (notice.target === undefined && now - saidAt >= ERROR_LIFE_MS) this.#notices.delete(key)
    return [...this.#notices.values()].map(({ notice }) => notice)
  }

  #drop(isOver: (notice: ErrorReport) => boolean): void {
    for (const [key, { notice }] of this.#notices) if (isOver(notice)) this.#notices.delete(key)
  }
}
