// The list of requests, newest first. One of its lines is in the order of the Tab key; the arrow keys lead to the others.

import { useEffect, type VNode } from '../preact.ts'
import { choose } from './chosen.ts'
import { EntryRow } from './entry-row.tsx'
import { LIST } from './texts.ts'
import type { EntrySummary } from './types.ts'

interface EntryListProps {
  entries: readonly EntrySummary[]
  chosen: string | undefined
  hasTunnels: boolean
  onChoose(id: string): void
}

export function EntryList({ entries, chosen, hasTunnels, onChoose }: EntryListProps): VNode {
  const isListed = entries.some(({ id }) => id === chosen)
  useEffect(() => {
    if (isListed) rowOf(chosen!)?.scrollIntoView({ block: 'nearest' })
  }, [chosen, isListed])
  const reachable = isListed ? chosen : entries[0]?.id
  const move = (event: KeyboardEvent): void => {
    const at = entries.findIndex(({ id }) => id === (document.activeElement as HTMLElement).dataset.entry)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key]
    const entry = next === undefined ? undefined : entries[next]
    if (!entry) return
    event.preventDefault()
    onChoose(entry.id)
    focusEntry(entry.id)
  }
  return (
    <ol class="entry-list" aria-label={LIST.title} onKeyDown={move}>
      {entries.map((entry) => (
        <EntryRow
          key={entry.id}
          entry={entry}
          isChosen={entry.id === chosen}
          isReachable={entry.id === reachable}
          hasTunnel={hasTunnels}
          onChoose={() => onChoose(entry.id)}
        />
      ))}
    </ol>
  )
}

export function focusEntry(id: string): void {
  rowOf(id)?.focus()
}

/** Returns whether the entry that is open hides the list, for want of room. */
export function isListHidden(): boolean {
  return document.querySelector('.entry-list')?.checkVisibility() === false
}

/** Leads from an entry to its line, and closes the entry where it hides the list. */
export function toList(id: string): void {
  if (isListHidden()) {
    choose(undefined)
    // Once the list is drawn.
    requestAnimationFrame(() => focusEntry(id))
  } else focusEntry(id)
}

function rowOf(id: string): HTMLElement | null {
  return document.querySelector(`[data-entry="${CSS.escape(id)}"]`)
}
