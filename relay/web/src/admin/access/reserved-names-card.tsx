// Edits the names that no site may register.
import type { PolicySettings } from '@svc/protocol'
import { useState, type VNode } from '../../preact.ts'
import { RESERVED, SETTINGS } from '../../texts/admin.ts'
import { type ChangeRequest, settingsChange } from '../change-request.ts'

interface CardProps {
  policy: PolicySettings
  act(change: ChangeRequest): Promise<boolean>
}

export function ReservedNamesCard({ policy, act }: CardProps): VNode {
  // The text as typed, which may end with a space. Without it, the form follows what other administrators change.
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    const reserved_names = (typed ?? '').split(/[\s,]+/).filter(Boolean)
    if (await act(settingsChange({ ...policy, reserved_names }, policy))) setTyped(undefined)
  }
  return (
    <section class="card" aria-labelledby="reserved-heading">
      <h2 id="reserved-heading">{RESERVED.title}</h2>
      <form class="settings" onSubmit={save}>
        <label>
          {RESERVED.field}
          <textarea
            rows={4}
            autocapitalize="off"
            spellcheck={false}
            value={typed ?? policy.reserved_names?.join(' ') ?? ''}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <span class="quiet">{RESERVED.about}</span>
        </label>
        <div class="row end">
          <button
            type="button"
            class="plain"
            disabled={typed === undefined}
            onClick={() => setTyped(undefined)}
          >
            {SETTINGS.reset}
          </button>
          <button type="submit" disabled={typed === undefined}>
            {SETTINGS.save}
          </button>
        </div>
      </form>
    </section>
  )
}
