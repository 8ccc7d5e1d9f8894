// A secret of a tunnel: a field for a new one; of one that is set, which nothing shows, only that it is, and how to replace or remove it.

import { SecretField } from '@svc/relay-web/common/secret-field.tsx'
import { useEffect, useRef, type VNode } from '@svc/relay-web/preact.ts'
import { ACCESS } from '../texts/form-texts.ts'
import type { Secret } from './access-settings.ts'

interface SecretControlProps {
  id: string
  label: string
  about?: string
  secret: Secret
  error: string
  set(change: Partial<Secret>): void
}

export function SecretControl(props: SecretControlProps): VNode {
  const { id, label, about = '', secret, error, set } = props
  const { isSet, change, text } = secret
  const parts = useRef<HTMLDivElement>(null)
  const shown = useRef(change)
  useEffect(() => {
    // What had the focus is gone.
    if (shown.current !== change) parts.current?.querySelector<HTMLElement>('input, button')?.focus()
    shown.current = change
  }, [change])
  const isTyped = !isSet || change === 'replace'
  return (
    <div ref={parts} class="secret-control">
      {isTyped ? (
        <SecretField
          id={id}
          autocomplete="new-password"
          label={label}
          about={about}
          value={text}
          error={error}
          onInput={(text) => set({ text })}
        />
      ) : (
        <p class="what">
          {label}: <strong>{change === 'keep' ? ACCESS.isSet : ACCESS.isRemoved}</strong>
        </p>
      )}
      {isSet && (
        <div class="actions">
          {change !== 'keep' && (
            <Answer text={ACCESS.keep} label={label} onClick={() => set({ change: 'keep', text: '' })} />
          )}
          {change === 'keep' && (
            <Answer text={ACCESS.replace} label={label} onClick={() => set({ change: 'replace' })} />
          )}
          {change === 'keep' && (
            <Answer text={ACCESS.remove} label={label} onClick={() => set({ change: 'remove' })} />
          )}
        </div>
      )}
    </div>
  )
}

interface AnswerProps {
  text: string
  label: string
  onClick: () => void
}

export function Answer({ text, label, onClick }: AnswerProps): VNode {
  return (
    <button type="button" class="plain small" aria-label={`${text}: ${label}`} onClick={onClick}>
      {text}
    </button>
  )
}
