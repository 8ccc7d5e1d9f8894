// A button that copies a text and confirms it.
import { useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'

/** Time that the confirmation shows. */
const COPIED_MS = 2000

export function CopyButton({ text, label }: { text: string; label: string }): VNode {
  const [message, setMessage] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setMessage(COMMON.copied)
    } catch {
      setMessage(COMMON.copyRefused)
    }
    setTimeout(() => setMessage(''), COPIED_MS)
  }
  return (
    <button type="button" class="plain copy" aria-label={message || label} onClick={copy}>
      {message || COMMON.copy}
    </button>
  )
}
