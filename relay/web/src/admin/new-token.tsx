// Shows a token that the relay has just made. It stays until it is dismissed, and nothing shows it again.
import { CopyableCode } from '../common/copyable-code.tsx'
import type { VNode } from '../preact.ts'
import { ACTIONS, NEW_TOKEN } from '../texts/admin.ts'

interface NewTokenProps {
  token: string
  label: string
  dismiss(): void
}

export function NewToken({ token, label, dismiss }: NewTokenProps): VNode {
  return (
    <div role="status">
      <p>{label}</p>
      <CopyableCode code={token} label={NEW_TOKEN.copy} />
      <div class="row end">
        <button type="button" class="plain" onClick={dismiss}>
          {ACTIONS.dismiss}
        </button>
      </div>
    </div>
  )
}
