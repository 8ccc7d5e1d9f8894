// Lists the last changes of all administrators, each with an undo, and announces the newest one of this tab.
import type { PolicyChange } from '@svc/protocol'
import { formatClock } from '../common/format.ts'
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { ACTIONS, CHANGES } from '../texts/admin.ts'
import { dismiss, lastChange, undoChange } from './apply-change.ts'
import { pastChanges } from './past-changes.ts'

interface ChangeHistoryProps {
  changes: readonly PolicyChange[]
  refresh: () => Promise<void>
}

export function ChangeHistory({ changes, refresh }: ChangeHistoryProps): VNode {
  return (
    <section class="card" aria-labelledby="changes-heading">
      <h2 id="changes-heading">{CHANGES.title}</h2>
      <p class="quiet">{CHANGES.about}</p>
      {changes.length === 0 ? (
        <p class="quiet">{CHANGES.none}</p>
      ) : (
        <ul class="lines">
          {pastChanges(changes).map((made) => (
            <li key={made.id}>
              <span>
                <time class="quiet">{formatClock(made.at)}</time> <bdi>{made.text}</bdi>
              </span>
              {made.isUndone ? (
                <span class="quiet">{CHANGES.undone}</span>
              ) : (
                <button type="button" class="plain" onClick={() => undoChange(made).then(refresh)}>
                  {ACTIONS.undo}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** A live region, which is always in the page, so that screen readers announce its text. */
export function LastChangeMessage({ refresh }: { refresh: () => Promise<void> }): VNode {
  const { message, change } = useStore(lastChange)
  return (
    <div class="message" role="status" data-shown={message !== ''}>
      <bdi>{message}</bdi>
      {change !== undefined && (
        <button type="button" class="plain" onClick={() => undoChange(change).then(refresh)}>
          {ACTIONS.undo}
        </button>
      )}
      {message !== '' && (
        <button type="button" class="plain" onClick={dismiss}>
          {ACTIONS.dismiss}
        </button>
      )}
    </div>
  )
}
