// The changes of this tab, each with its way back, and the newest said where it is seen.
import { formatClock } from '../common/format.ts'
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { ACTIONS, CHANGES } from '../texts/admin.ts'
import { dismiss, log, undo } from './log.ts'

export function LogList({ refresh }: { refresh: () => Promise<void> }): VNode {
  const { entries } = useStore(log)
  return (
    <section class="card" aria-labelledby="changes-heading">
      <h2 id="changes-heading">{CHANGES.title}</h2>
      <p class="quiet">{CHANGES.about}</p>
      {entries.length === 0 ? (
        <p class="quiet">{CHANGES.none}</p>
      ) : (
        <ul class="lines">
          {entries.map((entry) => (
            <li key={entry.id}>
              <span>
                <time class="quiet">{formatClock(entry.at)}</time> <bdi>{entry.change.text}</bdi>
              </span>
              {entry.isUndone ? (
                <span class="quiet">{CHANGES.undone}</span>
              ) : (
                <button type="button" class="plain" onClick={() => undo(entry).then(refresh)}>
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

/** The place is always there: what comes into it is read out. */
export function LogMessage({ refresh }: { refresh: () => Promise<void> }): VNode {
  const { entries, message } = useStore(log)
  const [newest] = entries
  const canUndo = newest !== undefined && !newest.isUndone && newest.change.text === message
  return (
    <div class="message" role="status" data-shown={message !== ''}>
      <bdi>{message}</bdi>
      {canUndo && (
        <button type="button" class="plain" onClick={() => undo(newest).then(refresh)}>
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
