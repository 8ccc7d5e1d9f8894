// A button that copies, and says that it did.
import { useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'

/** How long it says so. */
const COPIED_MS = 2000

export function CopyButton({ text, label }: { text: string; label: string }): VNode {
  const [said, setSaid] = useState('')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid(COMMON.copied)
    } catch {
      setSaid(COMMON.copyRefused)
    }
    setTimeout(() => setSaid(''), COPIED_MS)
  }
  return (
    <button type="button" class="plain copy" aria-label={said || label} onClick={copy}>
      {said || COMMON.copy}
    </button>
  )
}
