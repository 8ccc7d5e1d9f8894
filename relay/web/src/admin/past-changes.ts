// Converts the relay's recent policy changes for the list: the text of each, what it was before, and whether it was undone.
import {
  type LeaseDecisions,
  type LeasePolicyUpdate,
  PATH,
  type PolicyChange,
  type PolicySettings,
  type SettingChange,
  settingChanges,
} from '@svc/protocol'
import { formatTime } from '../common/format.ts'
import { DIFFERENCE, DONE } from '../texts/admin.ts'
import type { ChangeRequest } from './change-request.ts'
import { limitOf } from './limit-text.ts'

const PATHS = {
  settings: PATH.policy,
  lease: PATH.policyLeases,
  leases: PATH.policyLeasesBulk,
  ip: PATH.policyIps,
  relay: PATH.policyRelays,
  domain: PATH.policyDomains,
  name: PATH.policyNames,
} as const

export interface PastChange extends Pick<ChangeRequest, 'text' | 'undo'> {
  id: number
  /** In milliseconds since the epoch. */
  at: number
  /** The administrator; undefined when nobody did it, as a ban that ended by itself. */
  by: string | undefined
  /** What it was before and is now, a line for each setting; or the reason and the end of a ban. */
  details: readonly string[]
  isUndone: boolean
  /** False when the relay would refuse it, as a ban whose end is over. */
  canUndo: boolean
}

/** @param changes the newest first */
export function pastChanges(changes: readonly PolicyChange[], now: number = Date.now()): PastChange[] {
  return changes.map((change, index) => {
    const undo = undoAt(change, now)
    return {
      id: change.id,
      at: Date.parse(change.at),
      by: change.by,
      text: textOf(change),
      details: detailsOf(change),
      undo: { path: PATHS[change.kind], body: undo },
      // A later change by any administrator that equals the undo counts.
      isUndone: changes.slice(0, index).some(({ made }) => isEqual(made, change.undo) || isEqual(made, undo)),
      canUndo: !partsOf(change.undo).every((part) => isOver(part, now)),
    }
  })
}

function partsOf(undo: PolicyChange['undo']): readonly object[] {
  return 'decisions' in undo ? undo.decisions : [undo]
}

/** Whether it makes a ban again whose end is over, which the relay refuses. */
function isOver(part: object, now: number): boolean {
  return 'until' in part && Date.parse(`${part.until}`) <= now
}

/** What takes a change back: of many sites, one whose ban before is over by now is banned no longer, and holds up no other. */
function undoAt({ undo }: PolicyChange, now: number): PolicyChange['undo'] {
  if (!('decisions' in undo)) return undo
  const decisions = undo.decisions.map((decision) => {
    if (!isOver(decision, now)) return decision
    const { reason: _reason, until: _until, ...others } = decision
    return { ...others, is_banned: false }
  })
  return { decisions }
}

function textOf(change: PolicyChange): string {
  if (change.kind === 'settings') return DONE.settings
  if (change.kind === 'lease') return leaseChangeText(change.made)
  if (change.kind === 'leases') return decisionsText(change.made)
  if (change.kind === 'name')
    return change.made.address === '' ? DONE.unpinned(change.made.name) : DONE.pinned(change.made.name)
  const { made } = change
  const what = 'ip' in made ? made.ip : 'relay' in made ? made.relay : made.domain
  return made.is_banned ? DONE.banned(what) : DONE.unbanned(what)
}

function detailsOf(change: PolicyChange): string[] {
  if (change.kind === 'settings') return settingsDifference(change.undo, change.made)
  if (change.kind === 'name') return []
  // A ban of many sites has one reason and one end.
  const made = change.kind === 'leases' ? change.made.decisions[0] : change.made
  if (made?.is_banned !== true) return []
  const { reason, until } = made
  return [
    ...(reason === undefined ? [] : [DIFFERENCE.reason(reason)]),
    ...(until === undefined ? [] : [DIFFERENCE.until(formatTime(until))]),
  ]
}

/** A line for each setting that is different: its name, the old value and the new one. */
function settingsDifference(before: PolicySettings, after: PolicySettings): string[] {
  return settingChanges(before, after).flatMap(differenceText)
}

function differenceText(change: SettingChange): string[] {
  const name = DIFFERENCE.fields[change.field as keyof typeof DIFFERENCE.fields] ?? change.field
  if ('from' in change)
    return [DIFFERENCE.changed(name, DIFFERENCE.value(change.from), DIFFERENCE.value(change.to))]
  const { added, removed } = change
  return [
    ...(added.length === 0 ? [] : [DIFFERENCE.added(name, added)]),
    ...(removed.length === 0 ? [] : [DIFFERENCE.removed(name, removed)]),
  ]
}

/** Of many sites, what was decided about the first, which is the same for all unless it is taken back. */
function decisionsText({ decisions }: LeaseDecisions): string {
  const [first] = decisions
  if (first === undefined) return ''
  return leaseChangeText(first, decisions.length)
}

function leaseChangeText(
  { identity_key, is_approved, is_denied, is_banned, bps }: LeasePolicyUpdate,
  count = 1,
): string {
  const [name = ''] = identity_key.split(':')
  const who = count === 1 ? name : DONE.sites(count)
  const texts: string[] = []
  if (is_banned !== undefined) texts.push(is_banned ? DONE.banned(who, count) : DONE.unbanned(who, count))
  // An approval lifts a denial, and a denial revokes an approval.
  if (is_denied) texts.push(DONE.denied(who, count))
  else if (is_approved !== undefined)
    texts.push(is_approved ? DONE.approved(who, count) : DONE.revoked(who, count))
  else if (is_denied !== undefined) texts.push(DONE.undenied(who, count))
  if (bps !== undefined) texts.push(DONE.limited(who, limitOf(bps)))
  return texts.join('; ')
}

/** Compares JSON values; the order of fields does not matter. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => isEqual(one[name as never], other[name as never]))
}
