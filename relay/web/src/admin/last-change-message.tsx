// Says what this tab changed last, with the way back.
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { ACTIONS } from '../texts/admin.ts'
import { dismiss, lastChange, undoChange } from './apply-change.ts'

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
