// The inputs of a form, each with its label and what is wrong with it.

import { useEffect, useRef, type VNode } from '@svc/relay-web/preact.ts'

interface FieldProps {
  id: string
  label: string
  hint?: string
  type?: 'text' | 'datetime-local'
  inputMode?: 'numeric'
  value: string
  isRequired?: boolean
  /** Empty for nothing. It takes the focus when something is wrong with it. */
  error?: string
  onChange: (value: string) => void
}

export function Field(props: FieldProps): VNode {
  const { id, label, hint = '', type = 'text', inputMode, value, isRequired = false, error = '' } = props
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (error !== '') input.current?.focus()
  }, [error])
  return (
    <>
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        {...(type === 'text' ? { type: 'text' as const } : { type: 'datetime-local' as const })}
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        inputMode={inputMode}
        required={isRequired}
        value={value}
        aria-describedby={`${id}-error`}
        aria-invalid={error !== ''}
        onInput={(event) => props.onChange(event.currentTarget.value)}
      />
      <ErrorOf id={id} text={error} />
    </>
  )
}

export function ErrorOf({ id, text }: { id: string; text: string }): VNode {
  return (
    <p class="error" id={`${id}-error`} role="alert">
      {text}
    </p>
  )
}

interface CheckProps {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
}

export function Check({ label, isOn, onChange }: CheckProps): VNode {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  )
}
