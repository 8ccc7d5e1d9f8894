// Offers the decisions about a lease. The administrator confirms those that close connections.
import type { LeasePolicyUpdate, PolicyLease } from '@svc/protocol'
import { useState, type VNode } from '../preact.ts'
import { ACTIONS, CONFIRM, DONE } from '../texts/admin.ts'
import { type ChangeRequest, ipChange, leaseChange } from './change-request.ts'
import type { DashboardData } from './dashboard-data.ts'
import { limitOf } from './lease-fields.tsx'

interface LeaseActionsProps {
  lease: PolicyLease
  view: DashboardData
  act(change: ChangeRequest): Promise<void>
}

export function LeaseActions({ lease, view, act }: LeaseActionsProps): VNode {
  const { name, identity_key } = lease
  const { decisions, policy } = view
  const decide = (update: Omit<LeasePolicyUpdate, 'identity_key'>, text: string, question?: string): void =>
    void act(leaseChange({ identity_key, ...update }, decisions, text, question))
  const isApproved = decisions.approved.includes(identity_key)
  const ip = lease.client_ip
  return (
    <>
      <div class="actions">
        {isApproved ? (
          <Action
            text={ACTIONS.revoke}
            run={() =>
              decide(
                { is_approved: false },
                DONE.revoked(name),
                policy.approval_mode === 'manual' ? CONFIRM.revoke(name) : undefined,
              )
            }
          />
        ) : (
          <Action
            text={ACTIONS.approve}
            run={() => decide({ is_approved: true, is_denied: false }, DONE.approved(name))}
          />
        )}
        {lease.is_denied ? (
          <Action text={ACTIONS.liftDenial} run={() => decide({ is_denied: false }, DONE.undenied(name))} />
        ) : (
          <Action
            text={ACTIONS.deny}
            run={() => decide({ is_denied: true }, DONE.denied(name), CONFIRM.deny(name))}
          />
        )}
        {lease.is_banned ? (
          <Action text={ACTIONS.liftBan} run={() => decide({ is_banned: false }, DONE.unbanned(name))} />
        ) : (
          <Action
            text={ACTIONS.ban}
            run={() => decide({ is_banned: true }, DONE.banned(name), CONFIRM.ban(name))}
          />
        )}
        {lease.ip_bans.map((ban) => (
          <Action key={ban} text={ACTIONS.liftIpBan(ban)} run={() => void act(ipChange(ban, false))} />
        ))}
        {lease.ip_bans.length === 0 && (
          <Action text={ACTIONS.banIp(ip)} run={() => void act(ipChange(ip, true, CONFIRM.banIp(ip)))} />
        )}
      </div>
      <Limit lease={lease} set={(bps) => decide({ bps }, DONE.limited(name, limitOf(bps)))} />
    </>
  )
}

/** @param set called with bits per second */
function Limit({ lease, set }: { lease: PolicyLease; set: (bps: number) => void }): VNode {
  const [bps, setBps] = useState(String(lease.bps))
  const setLimit = (event: Event): void => {
    event.preventDefault()
    set(Number(bps))
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
          value={bps}
          onInput={(event) => setBps(event.currentTarget.value)}
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
