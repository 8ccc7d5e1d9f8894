// A field for a secret that somebody makes up or pastes, which can be shown.
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'

const SHOWN = { type: 'text' } as const
const HIDDEN = { type: 'password' } as const

interface SecretFieldProps {
  id: string
  autocomplete: 'new-password' | 'off'
  label: string
  about: string
  value: string
  error: string
  onInput(value: string): void
}

/** A text that only its owner should see, unless it asks to. It takes the focus when something is wrong with it. */
export function SecretField({
  id,
  autocomplete,
  label,
  about,
  value,
  error,
  onInput,
}: SecretFieldProps): VNode {
  const [isShown, setShown] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (error !== '') input.current?.focus()
  }, [error])
  return (
    <div class="secret">
      <label for={id}>{label}</label>
      <div class="row">
        <input
          ref={input}
          id={id}
          {...(isShown ? SHOWN : HIDDEN)}
          autocomplete={autocomplete}
          autocapitalize="off"
          spellcheck={false}
          maxlength={1024}
          value={value}
          aria-describedby={`${id}-about ${id}-error`}
          aria-invalid={error !== ''}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
        <button
          type="button"
          class="plain"
          aria-pressed={isShown}
          aria-label={COMMON.showSecret(label)}
          onClick={() => setShown(!isShown)}
        >
          {COMMON.show}
        </button>
      </div>
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
      <p class="quiet" id={`${id}-about`}>
        {about}
      </p>
    </div>
  )
}
