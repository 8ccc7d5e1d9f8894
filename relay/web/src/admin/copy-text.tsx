// A long text in a short form, which copies the whole when it is pressed.
import { useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'

/** Time that the confirmation shows. */
const COPIED_MS = 2000
/** Characters of the beginning and of the end. */
const HEAD_CHARS = 6
const TAIL_CHARS = 4

export function CopyText({ text, label }: { text: string; label: string }): VNode {
  const [message, setMessage] = useState('')
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text).then(
      () => setMessage(COMMON.copied),
      () => setMessage(COMMON.copyRefused),
    )
    setTimeout(() => setMessage(''), COPIED_MS)
  }
  return (
    <button type="button" class="copy-text" title={text} onClick={copy}>
      <span class="unseen">{label}: </span>
      {message || shorten(text)}
    </button>
  )
}

export function shorten(text: string): string {
  return text.length <= HEAD_CHARS + TAIL_CHARS + 1
    ? text
    : `${text.slice(0, HEAD_CHARS)}…${text.slice(-TAIL_CHARS)}`
}
