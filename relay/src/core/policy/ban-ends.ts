// Ends bans by themselves: removes each from the policy when its time has come.

import type { PolicyStep } from '@svc/protocol'
import { type Ban, endingBans, withBan } from './ban-details.ts'
import type { Policy } from './policy.ts'
import type { BanField } from './policy-file.ts'

/** The longest time between two looks at the wall clock, which somebody may set. */
const LOOK_MS = 60_000
/** The time until the next attempt, when the disk or Redis refused a change. */
const RETRY_MS = 10_000
/** The most by which a machine is later than the moment, so that one of several does the work. */
const SPREAD_MS = 2_000

export interface BanEndsParts {
  policy: Pick<Policy, 'file' | 'decide' | 'onChange'>
  /** Called with each ban that ended, as a change of the policy. */
  ended: (step: PolicyStep) => Promise<void>
  /** Whether other machines end the same bans. */
  isShared: () => boolean
}

export class BanEnds {
  readonly #parts: BanEndsParts
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(parts: BanEndsParts) {
    this.#parts = parts
    parts.policy.onChange(() => this.#schedule())
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #schedule(afterMs?: number): void {
    clearTimeout(this.#timer)
    const { policy, isShared } = this.#parts
    let next = Number.POSITIVE_INFINITY
    for (const ban of endingBans(policy.file)) next = Math.min(next, endOf(ban))
    if (this.#isClosed || next === Number.POSITIVE_INFINITY) return
    const spread = isShared() ? Math.random() * SPREAD_MS : 0
    const waitMs = afterMs ?? Math.min(Math.max(0, next - Date.now()) + spread, LOOK_MS)
    this.#timer = setTimeout(() => void this.#end(), waitMs).unref()
  }

  async #end(): Promise<void> {
    const { policy, ended } = this.#parts
    const isOver = (ban: Ban): boolean => endOf(ban) <= Date.now()
    if (![...endingBans(policy.file)].some(isOver)) return this.#schedule()
    try {
      // Of several machines, the one that finds the ban in the policy tells of its end.
      const bans = await policy.decide((file) => {
        const over = [...endingBans(file)].filter(isOver)
        return [over.reduce((rest, { field, subject }) => withBan(rest, field, subject, false), file), over]
      })
      for (const ban of bans) await ended(stepOf(ban))
      this.#schedule()
    } catch {
      this.#schedule(RETRY_MS)
    }
  }
}

/** Wall clock. */
function endOf({ details }: Ban): number {
  return Date.parse(details.until!)
}

/** How a change of the policy names what each list bans. */
const NAMES = {
  banned_identity_keys: ['lease', 'identity_key'],
  banned_ips: ['ip', 'ip'],
  banned_relays: ['relay', 'relay'],
  banned_domains: ['domain', 'domain'],
} as const satisfies Record<BanField, [kind: PolicyStep['kind'], name: string]>

/** The end of a ban as a change of the policy. */
function stepOf({ field, subject, details: { until, reason } }: Ban): PolicyStep {
  const [kind, name] = NAMES[field]
  const made = { [name]: subject, is_banned: false }
  const undo = { [name]: subject, is_banned: true, until, ...(reason && { reason }) }
  return { kind, made, undo } as unknown as PolicyStep
}
