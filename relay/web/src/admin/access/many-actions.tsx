// Approves or denies the sites that are selected. The relay decides about all of a request or about none.
import { LEASE_DECISIONS_MAX, type PolicyDecisionsResponse, type PolicyLease } from '@svc/protocol'
import { confirm } from '../../common/confirm.tsx'
import type { VNode } from '../../preact.ts'
import { ACTIONS, CONFIRM, MANY } from '../../texts/admin.ts'
import { type ChangeRequest, manyChange } from '../change-request.ts'

interface ManyActionsProps {
  selected: readonly PolicyLease[]
  decisions: PolicyDecisionsResponse
  act(change: ChangeRequest): Promise<boolean>
  clear(): void
  /** What is said while nothing is selected, so that nothing moves when something is. */
  hint: string
}

export function ManyActions({ selected, decisions, act, clear, hint }: ManyActionsProps): VNode {
  const decide = async (isApproval: boolean): Promise<void> => {
    const hasVisitors = selected.some(({ is_approved }) => is_approved)
    if (!isApproval && hasVisitors && !(await confirm(CONFIRM.denyMany(selected.length)))) return
    if (await decideAll(selected, isApproval, decisions, act)) clear()
  }
  const isNone = selected.length === 0
  return (
    <fieldset class="many" aria-label={MANY.title}>
      <output class={isNone ? 'quiet' : ''}>{isNone ? hint : MANY.count(selected.length)}</output>
      <div class="row" hidden={isNone}>
        <button type="button" class="small" onClick={() => void decide(true)}>
          {ACTIONS.approve}
        </button>
        <button type="button" class="plain small" onClick={() => void decide(false)}>
          {ACTIONS.deny}
        </button>
        <button type="button" class="plain small" onClick={clear}>
          {MANY.clear}
        </button>
      </div>
    </fieldset>
  )
}

/** @returns whether all were decided about */
export async function decideAll(
  leases: readonly PolicyLease[],
  isApproval: boolean,
  before: PolicyDecisionsResponse,
  act: (change: ChangeRequest) => Promise<boolean>,
): Promise<boolean> {
  for (let from = 0; from < leases.length; from += LEASE_DECISIONS_MAX) {
    const part = leases.slice(from, from + LEASE_DECISIONS_MAX)
    if (!(await act(manyChange(part, isApproval, before)))) return false
  }
  return true
}
