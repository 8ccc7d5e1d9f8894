// Shows decisions without a lease: banned addresses, relays and domains, and identities that have no lease now.
import type { LeasePolicyUpdate } from '@svc/protocol'
import { useState, type VNode } from '../preact.ts'
import { CONFIRM, DECISIONS, DOMAIN_BANS, DONE, IP_BANS, RELAY_BANS } from '../texts/admin.ts'
import { type ChangeRequest, domainChange, ipChange, leaseChange, relayChange } from './change-request.ts'
import type { DashboardData } from './dashboard-data.ts'
import { limitOf } from './lease-fields.tsx'

interface CardProps {
  view: DashboardData
  act(change: ChangeRequest): Promise<void>
}

export function IpBansCard({ view, act }: CardProps): VNode {
  const change = (ip: string, isBanned: boolean): ChangeRequest =>
    ipChange(ip, isBanned, isBanned ? CONFIRM.banIp(ip) : undefined)
  return <BansCard id="ips" texts={IP_BANS} banned={view.decisions.banned_ips} change={change} act={act} />
}

/** Relays that discovery refuses. */
export function RelayBansCard({ view, act }: CardProps): VNode {
  const change = (relay: string, isBanned: boolean): ChangeRequest =>
    relayChange(relay, isBanned, isBanned ? CONFIRM.banRelay(relay) : undefined)
  const { banned_relays } = view.decisions
  return <BansCard id="relays" texts={RELAY_BANS} banned={banned_relays} change={change} act={act} />
}

/** Custom domains that lead to no site. */
export function DomainBansCard({ view, act }: CardProps): VNode {
  const change = (domain: string, isBanned: boolean): ChangeRequest =>
    domainChange(domain, isBanned, isBanned ? CONFIRM.banDomain(domain) : undefined)
  const { banned_domains } = view.decisions
  return <BansCard id="domains" texts={DOMAIN_BANS} banned={banned_domains} change={change} act={act} />
}

interface BansCardProps {
  id: string
  texts: typeof IP_BANS | typeof RELAY_BANS | typeof DOMAIN_BANS
  banned: readonly string[]
  change: (what: string, isBanned: boolean) => ChangeRequest
  act(change: ChangeRequest): Promise<void>
}

function BansCard({ id, texts, banned, change, act }: BansCardProps): VNode {
  const [typed, setTyped] = useState('')
  const ban = async (event: Event): Promise<void> => {
    event.preventDefault()
    await act(change(typed.trim(), true))
    setTyped('')
  }
  return (
    <section class="card" aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`}>{texts.title}</h2>
      <p class="quiet">{texts.about}</p>
      <form class="limit" onSubmit={ban}>
        <label>
          {texts.field}
          <input
            required
            autocapitalize="off"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="plain">
          {DECISIONS.ban}
        </button>
      </form>
      {banned.length === 0 ? (
        <p class="quiet">{texts.none}</p>
      ) : (
        <ul class="lines">
          {banned.map((one) => (
            <Line key={one} text={one} lift={() => void act(change(one, false))} />
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
