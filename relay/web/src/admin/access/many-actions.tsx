// Approves, denies or bans the sites that are selected. A ban asks once for its reason and its end.
import type { PolicyDecisionsResponse, PolicyLease } from '@svc/protocol'
import { confirm } from '../../common/confirm.tsx'
import { useRef, type VNode } from '../../preact.ts'
import { ACTIONS, CONFIRM, DONE, MANY } from '../../texts/admin.ts'
import { askBan } from '../ban-dialog.tsx'
import { type ChangeRequest, type ManyDecision, manyChange } from '../change-request.ts'

/** Names in the question of a ban. */
const NAMES_MAX = 5

interface ManyActionsProps {
  selected: readonly PolicyLease[]
  decisions: PolicyDecisionsResponse
  act(change: ChangeRequest): Promise<boolean>
  clear(): void
  /** What is said while nothing is selected, so that nothing moves when something is. */
  hint: string
}

export function ManyActions({ selected, decisions, act, clear, hint }: ManyActionsProps): VNode {
  const count = selected.length
  // Another administrator may decide while this one is asked.
  const latest = useRef(decisions)
  latest.current = decisions
  const decide = async (decision: ManyDecision): Promise<void> => {
    if (await act(manyChange(selected, decision, latest.current))) clear()
  }
  const deny = async (): Promise<void> => {
    const hasVisitors = selected.some(({ is_approved }) => is_approved)
    if (!hasVisitors || (await confirm(CONFIRM.denyMany(count)))) await decide('deny')
  }
  const ban = async (): Promise<void> => {
    const terms = await askBan(...questionOf(selected))
    if (terms !== undefined) await decide({ ban: terms })
  }
  return (
    <fieldset class="many" aria-label={MANY.title}>
      <output class={count === 0 ? 'quiet' : ''}>{count === 0 ? hint : MANY.count(count)}</output>
      <div class="row" hidden={count === 0}>
        <button type="button" class="small" onClick={() => void decide('approve')}>
          {ACTIONS.approve}
        </button>
        <button type="button" class="plain small" onClick={() => void deny()}>
          {ACTIONS.deny}
        </button>
        <button type="button" class="plain small wrong" onClick={() => void ban()}>
          {ACTIONS.ban}
        </button>
        <button type="button" class="plain small" onClick={clear}>
          {MANY.clear}
        </button>
      </div>
    </fieldset>
  )
}

function questionOf(leases: readonly PolicyLease[]): [who: string, about: string] {
  const [first, ...others] = leases
  if (others.length === 0) return [`${first?.name}`, CONFIRM.ban]
  const names = leases.slice(0, NAMES_MAX).map(({ name }) => name)
  return [DONE.sites(leases.length), CONFIRM.banMany(names, leases.length - names.length)]
}
