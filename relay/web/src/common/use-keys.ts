// The keys of a page.
import { useEffect, useRef } from '../preact.ts'
import { loadSingleKeys, singleKeys } from './single-keys.ts'

/** Elements that take the keys themselves. */
const FIELDS = 'input, textarea, select, dialog, [contenteditable]'

/** Keys that act again while they are held down: they only move. Held down, another would decide about row after row. */
const MOVES: ReadonlySet<string> = new Set(['j', 'k', 'ArrowDown', 'ArrowUp'])

/** Calls what belongs to a key, unless a field or a dialog has it, or single keys are off. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    void loadSingleKeys()
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if ((event.target as Element).closest(FIELDS) || document.querySelector('dialog[open]')) return
      if (event.key.length === 1 && !singleKeys.value) return
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined
      if (!act) return
      event.preventDefault()
      if (!event.repeat || MOVES.has(event.key)) act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
