// Code with the button that copies it.
import type { VNode } from '../preact.ts'
import { CopyButton } from './copy-button.tsx'

interface CopyableCodeProps {
  code: string
  /** Label of the button. */
  label: string
  /** Long lines are scrolled to, and not broken: for programs. */
  isProgram?: boolean
}

export function CopyableCode({ code, label, isProgram = false }: CopyableCodeProps): VNode {
  return (
    <div class="command">
      {/* The keyboard reaches what it has to scroll. */}
      <pre {...(isProgram && { class: 'program', tabIndex: 0 })}>{code}</pre>
      <CopyButton text={code} label={label} />
    </div>
  )
}
