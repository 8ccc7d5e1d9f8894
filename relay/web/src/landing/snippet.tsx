// A card with code that the user copies.
import { CopyableCode } from '../common/copyable-code.tsx'
import type { ComponentChildren, VNode } from '../preact.ts'

interface SnippetProps {
  id: string
  title: string
  about: string
  code: string
  /** Label of the copy button. */
  copy: string
  children?: ComponentChildren
}

export function Snippet({ id, title, about, code, copy, children }: SnippetProps): VNode {
  return (
    <section class="card" aria-labelledby={`${id}-heading`}>
      <h2 id={`${id}-heading`}>{title}</h2>
      <p class="quiet">{about}</p>
      <CopyableCode code={code} label={copy} />
      {children}
    </section>
  )
}
