// Shows decisions without a lease: banned addresses, and identities that have no lease now.
import type { LeasePolicyUpdate } from '@svc/protocol'
import { useState, type VNode } from '../preact.ts'
import { CONFIRM, DECISIONS, DONE } from '../texts/admin.ts'
import { type ChangeRequest, ipChange, leaseChange } from './change-request.ts'
import type { DashboardData } from './dashboard-data.ts'
import { limitOf } from './lease-fields.tsx'

interface CardProps {
  view: DashboardData
  act(change: ChangeRequest): Promise<void>
}

export function IpBansCard({ view, act }: CardProps): VNode {
  const { banned_ips } = view.decisions
  const [ip, setIp] = useState('')
  const ban = async (event: Event): Promise<void> => {
    event.preventDefault()
    await act(ipChange(ip.trim(), true, CONFIRM.banIp(ip.trim())))
    setIp('')
  }
  return (
    <section class="card" aria-labelledby="ips-heading">
      <h2 id="ips-heading">{DECISIONS.title}</h2>
      <p class="quiet">{DECISIONS.about}</p>
      <form class="limit" onSubmit={ban}>
        <label>
          {DECISIONS.ip}
          <input
            required
            autocapitalize="off"
            autocomplete="off"
            spellcheck={false}
            value={ip}
            onInput={(event) => setIp(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="plain">
          {DECISIONS.ban}
        </button>
      </form>
      {banned_ips.length === 0 ? (
        <p class="quiet">{DECISIONS.noIps}</p>
      ) : (
        <ul class="lines">
          {banned_ips.map((banned) => (
            <Line key={banned} text={banned} lift={() => void act(ipChange(banned, false))} />
          ))}
        </ul>
      )}
    </section>
  )
}

export function OfflineDecisionsCard({ view, act }: CardProps): VNode {
  const lines = offlineDecisions(view)
  return (
    <section class="card" aria-labelledby="absent-heading">
      <h2 id="absent-heading">{DECISIONS.absentTitle}</h2>
      <p class="quiet">{lines.length === 0 ? DECISIONS.absentNone : DECISIONS.absentAbout}</p>
      {lines.length > 0 && (
        <ul class="lines">
          {lines.map(({ update, what, done }) => (
            <Line
              key={`${update.identity_key} ${what}`}
              text={`${update.identity_key}: ${what}`}
              lift={() => void act(leaseChange(update, view.decisions, done))}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

function Line({ text, lift }: { text: string; lift: () => void }): VNode {
  return (
    <li>
      <span>{text}</span>
      <button type="button" class="plain" aria-label={`${DECISIONS.lift}: ${text}`} onClick={lift}>
        {DECISIONS.lift}
      </button>
    </li>
  )
}

interface OfflineDecision {
  /** The update that lifts the decision. */
  update: LeasePolicyUpdate
  what: string
  done: string
}

function offlineDecisions({ leases, decisions }: DashboardData): OfflineDecision[] {
  const present = new Set(leases.map(({ identity_key }) => identity_key))
  const absent = (keys: readonly string[]): string[] => keys.filter((key) => !present.has(key))
  const { kinds } = DECISIONS
  return [
    ...absent(decisions.banned).map((identity_key) => ({
      update: { identity_key, is_banned: false },
      what: kinds.banned,
      done: DONE.unbanned(identity_key),
    })),
    ...absent(decisions.denied).map((identity_key) => ({
      update: { identity_key, is_denied: false },
      what: kinds.denied,
      done: DONE.undenied(identity_key),
    })),
    ...absent(decisions.approved).map((identity_key) => ({
      update: { identity_key, is_approved: false },
      what: kinds.approved,
      done: DONE.revoked(identity_key),
    })),
    ...absent(Object.keys(decisions.bps)).map((identity_key) => ({
      update: { identity_key, bps: 0 },
      what: limitOf(decisions.bps[identity_key] ?? 0),
      done: DONE.limited(identity_key, limitOf(0)),
    })),
  ]
}
