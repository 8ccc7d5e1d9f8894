// Bans of sites, addresses, relays and domains with their reasons and ends, and decisions about sites that have no lease.

import type { BanDetails, LeasePolicyUpdate } from '@svc/protocol'
import { formatAgo, formatTime } from '../../common/format.ts'
import { useState, type VNode } from '../../preact.ts'
import { Link } from '../../shell/link.tsx'
import {
  BAN,
  CONFIRM,
  DECISIONS,
  DOMAIN_BANS,
  DONE,
  IP_BANS,
  RELAY_BANS,
  SECTIONS,
  SITE_BANS,
} from '../../texts/admin.ts'
import { askBan, termsText } from '../ban-dialog.tsx'
import { banChange, type ChangeRequest, leaseChange } from '../change-request.ts'
import { limitOf } from '../limit-text.ts'
import type { PageProps } from '../page-props.ts'
import { sitePath } from '../place.ts'
import { PlainInput } from '../plain-input.tsx'

interface CardProps {
  view: PageProps<'decisions'>['view']
  act(change: ChangeRequest): Promise<boolean>
}

/** Discovery's page: which other relays this one refuses. */
export function RelaysPage({ view, act }: PageProps<'decisions'>): VNode {
  return (
    <>
      <h1>{SECTIONS.relays}</h1>
      <BansCard kind="banned_relays" texts={RELAY_BANS} about={CONFIRM.banRelay} view={view} act={act} />
      <p>
        <Link to="/relays">{RELAY_BANS.list}</Link>
      </p>
    </>
  )
}

export function IpBansCard(props: CardProps): VNode {
  return <BansCard kind="banned_ips" texts={IP_BANS} about={CONFIRM.banIp} {...props} />
}

export function DomainBansCard(props: CardProps): VNode {
  return <BansCard kind="banned_domains" texts={DOMAIN_BANS} about={CONFIRM.banDomain} {...props} />
}

interface BansCardProps extends CardProps {
  kind: 'banned_ips' | 'banned_relays' | 'banned_domains'
  texts: { title: string; about: string; field: string; none: string }
  about: string
}

function BansCard({ kind, texts, about, view, act }: BansCardProps): VNode {
  const { decisions } = view
  const [typed, setTyped] = useState('')
  const ban = async (event: Event): Promise<void> => {
    event.preventDefault()
    const what = typed.trim()
    const terms = await askBan(what, about)
    if (terms !== undefined && (await act(banChange(kind, what, true, terms)))) setTyped('')
  }
  const details = decisions.ban_details?.[kind]
  return (
    <section class="card" aria-labelledby={`${kind}-heading`}>
      <h2 id={`${kind}-heading`}>{texts.title}</h2>
      <p class="quiet">{texts.about}</p>
      <form class="limit" onSubmit={ban}>
        <PlainInput label={texts.field} value={typed} onInput={setTyped} />
        <button type="submit" class="plain wrong">
          {DECISIONS.ban}
        </button>
      </form>
      {decisions[kind].length === 0 ? (
        <p class="quiet">{texts.none}</p>
      ) : (
        <ul class="lines">
          {decisions[kind].map((what) => (
            <Line
              key={what}
              text={what}
              details={details?.[what]}
              lift={() => void act(banChange(kind, what, false, details?.[what]))}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

export function SiteBansCard({ view: { decisions }, act }: CardProps): VNode {
  const { banned, ban_details } = decisions
  const lift = (identity_key: string): void =>
    void act(leaseChange({ identity_key, is_banned: false }, decisions, DONE.unbanned(identity_key)))
  return (
    <section class="card" aria-labelledby="banned-heading">
      <h2 id="banned-heading">{SITE_BANS.title}</h2>
      <p class="quiet">{banned.length === 0 ? SITE_BANS.none : SITE_BANS.about}</p>
      {banned.length > 0 && (
        <ul class="lines">
          {banned.map((key) => (
            <Line
              key={key}
              text={key}
              to={sitePath(key)}
              details={ban_details?.banned[key]}
              lift={() => lift(key)}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

export function OfflineDecisionsCard({
  view,
  act,
}: { view: PageProps<'decisions' | 'leases'>['view'] } & Pick<CardProps, 'act'>): VNode {
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

interface LineProps {
  text: string
  /** Path of the page about it. */
  to?: string
  details?: BanDetails | undefined
  lift: () => void
}

function Line({ text, to, details, lift }: LineProps): VNode {
  const terms = details === undefined ? '' : termsText(details)
  return (
    <li>
      <span>
        {to === undefined ? text : <Link to={to}>{text}</Link>}
        {details !== undefined && (
          <small class="quiet">
            {terms !== '' && <bdi>{terms} · </bdi>}
            <time dateTime={details.at} title={formatTime(details.at)}>
              {BAN.by(details.by, formatAgo(details.at))}
            </time>
          </small>
        )}
      </span>
      <button type="button" class="plain small" aria-label={`${DECISIONS.lift}: ${text}`} onClick={lift}>
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

/** Bans of sites have a list of their own. */
function offlineDecisions({
  leases,
  decisions,
}: PageProps<'decisions' | 'leases'>['view']): OfflineDecision[] {
  const present = new Set(leases.map(({ identity_key }) => identity_key))
  const absent = (keys: readonly string[]): string[] => keys.filter((key) => !present.has(key))
  const { kinds } = DECISIONS
  return [
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
