// The keys of the inspector, and the list of them.

import { Modal } from '../common/modal.tsx'
import { useEffect, useRef, type VNode } from '../preact.ts'
import { KEYS } from './texts.ts'

/** Elements that take the keys themselves. */
const FIELDS = 'input, textarea, select, dialog, [contenteditable]'

/** Calls what belongs to a key, unless a field or a dialog has it. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if ((event.target as Element).closest(FIELDS) || document.querySelector('dialog[open]')) return
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}

export function KeysDialog({ onClose }: { onClose(): void }): VNode {
  return (
    <Modal title={KEYS.title} onClose={onClose}>
      <dl class="pairs">
        {KEYS.all.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="row end">
        <button type="button" class="plain" onClick={onClose}>
          {KEYS.close}
        </button>
      </div>
    </Modal>
  )
}
