// Tabs of one panel: the arrow keys change them (WAI-ARIA, "tabs").

import { type ComponentChildren, useRef, type VNode } from '../preact.ts'

export interface Tab<Id extends string> {
  id: Id
  title: string
}

interface TabsProps<Id extends string> {
  /** What the ids of the elements begin with. */
  name: string
  label: string
  tabs: readonly Tab<Id>[]
  current: Id
  onChange(id: Id): void
  children: ComponentChildren
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

export function Tabs<Id extends string>({
  name,
  label,
  tabs,
  current,
  onChange,
  children,
}: TabsProps<Id>): VNode {
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = tabs.findIndex(({ id }) => id === current)
    const next = (at + step + tabs.length) % tabs.length
    onChange(tabs[next]!.id)
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${name}-tab-${id}`}
            class="plain small"
            aria-selected={id === current}
            aria-controls={`${name}-panel`}
            tabIndex={id === current ? 0 : -1}
            onClick={() => onChange(id)}
          >
            {title}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the panel may have nothing else to focus, and scrolls */}
      <div id={`${name}-panel`} role="tabpanel" aria-labelledby={`${name}-tab-${current}`} tabIndex={0}>
        {children}
      </div>
    </>
  )
}
