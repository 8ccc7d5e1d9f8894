// Offers the decisions about a site. What closes connections asks first; a ban asks for its reason and its end.
import type { LeasePolicyUpdate, PolicyLeaseResponse } from '@svc/protocol'
import { useRef, useState, type VNode } from '../../preact.ts'
import { ACTIONS, CONFIRM, DONE, SITE } from '../../texts/admin.ts'
import { askBan } from '../ban-dialog.tsx'
import { type BanTerms, banChange, type ChangeRequest, leaseChange } from '../change-request.ts'
import { limitOf } from '../limit-text.ts'
import type { PageProps } from '../page-props.ts'

interface SiteActionsProps {
  site: PolicyLeaseResponse
  view: PageProps<'decisions'>['view']
  act(change: ChangeRequest): Promise<boolean>
}

export function SiteActions({ site, view, act }: SiteActionsProps): VNode {
  const { identity_key } = site
  const [name = ''] = identity_key.split(':')
  const { decisions, policy } = view
  // Another administrator may decide while this one is asked.
  const latest = useRef(decisions)
  latest.current = decisions
  const decide = (update: Omit<LeasePolicyUpdate, 'identity_key'>, text: string, question?: string): void =>
    void act(leaseChange({ identity_key, ...update }, latest.current, text, question))
  const isApproved = decisions.approved.includes(identity_key)
  const revoke = (): void => {
    const question = policy.approval_mode === 'auto' ? undefined : CONFIRM.revoke(name)
    decide({ is_approved: false }, DONE.revoked(name), question)
  }
  return (
    <section class="card" aria-labelledby="actions-heading">
      <h2 id="actions-heading">{SITE.actions}</h2>
      <div class="actions">
        {isApproved ? (
          <Action text={ACTIONS.revoke} run={revoke} />
        ) : (
          <button
            type="button"
            onClick={() => decide({ is_approved: true, is_denied: false }, DONE.approved(name))}
          >
            {ACTIONS.approve}
          </button>
        )}
        {site.is_denied ? (
          <Action text={ACTIONS.liftDenial} run={() => decide({ is_denied: false }, DONE.undenied(name))} />
        ) : (
          <Action
            text={ACTIONS.deny}
            run={() => decide({ is_denied: true }, DONE.denied(name), CONFIRM.deny(name))}
          />
        )}
      </div>
      <Limit bps={site.bps} set={(bps) => decide({ bps }, DONE.limited(name, limitOf(bps)))} />
      <Danger site={site} name={name} decide={decide} act={act} view={view} />
    </section>
  )
}

interface DangerProps extends SiteActionsProps {
  name: string
  decide(update: Omit<LeasePolicyUpdate, 'identity_key'>, text: string): void
}

function Danger({ site, name, decide, act, view }: DangerProps): VNode {
  const { lease } = site
  const ban = async (who: string, about: string, apply: (terms: BanTerms) => void): Promise<void> => {
    const terms = await askBan(who, about)
    if (terms !== undefined) apply(terms)
  }
  const banSite = (): Promise<void> =>
    ban(name, CONFIRM.ban, (terms) => decide({ is_banned: true, ...terms }, DONE.banned(name)))
  const banIp = (ip: string): Promise<void> =>
    ban(ip, CONFIRM.banIp, (terms) => void act(banChange('banned_ips', ip, true, terms)))
  const details = view.decisions.ban_details?.banned_ips
  return (
    <div class="actions danger-zone">
      {site.is_banned ? (
        <Action text={ACTIONS.liftBan} run={() => decide({ is_banned: false }, DONE.unbanned(name))} />
      ) : (
        <button type="button" class="danger" onClick={() => void banSite()}>
          {ACTIONS.ban}
        </button>
      )}
      {lease?.ip_bans.map((ip) => (
        <Action
          key={ip}
          text={ACTIONS.liftIpBan(ip)}
          run={() => void act(banChange('banned_ips', ip, false, details?.[ip]))}
        />
      ))}
      {lease?.ip_bans.length === 0 && (
        <button type="button" class="plain wrong" onClick={() => void banIp(lease.client_ip)}>
          {ACTIONS.banIp(lease.client_ip)}
        </button>
      )}
    </div>
  )
}

/** @param set called with bytes per second */
function Limit({ bps, set }: { bps: number; set: (bps: number) => void }): VNode {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const setLimit = (event: Event): void => {
    event.preventDefault()
    set(Number(typed ?? bps))
    setTyped(undefined)
  }
  return (
    <form class="limit" onSubmit={setLimit}>
      <label>
        {ACTIONS.limit}
        <input
          type="number"
          required
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          value={typed ?? String(bps)}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="plain">
        {ACTIONS.setLimit}
      </button>
    </form>
  )
}

function Action({ text, run }: { text: string; run: () => void }): VNode {
  return (
    <button type="button" class="plain" onClick={run}>
      {text}
    </button>
  )
}
