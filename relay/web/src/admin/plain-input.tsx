// A required input for a name or an address, which nothing of the browser completes or corrects.

import type { VNode } from '../preact.ts'

interface PlainInputProps {
  label: string
  value: string
  /** What the browser takes. @default anything */
  pattern?: string
  onInput(value: string): void
}

export function PlainInput({ label, value, pattern, onInput }: PlainInputProps): VNode {
  return (
    <label>
      {label}
      <input
        required
        pattern={pattern}
        autocapitalize="off"
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  )
}
