// Code with the button that copies it.
import type { VNode } from '../preact.ts'
import { CopyButton } from './copy-button.tsx'

export function CopyableCode({ code, label }: { code: string; label: string }): VNode {
  return (
    <div class="command">
      <pre>{code}</pre>
      <CopyButton text={code} label={label} />
    </div>
  )
}
