// The keys of the inspector, and the list of them.

import { Modal } from '../common/modal.tsx'
import { useStore } from '../common/store.ts'
import { useEffect, useRef, type VNode } from '../preact.ts'
import { loadSingleKeys, setSingleKeys, singleKeys } from './single-keys.ts'
import { KEYS } from './texts.ts'

/** Elements that take the keys themselves. */
const FIELDS = 'input, textarea, select, dialog, [contenteditable]'

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
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}

export function KeysDialog({ onClose }: { onClose(): void }): VNode {
  const areOn = useStore(singleKeys)
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
      <label class="check">
        <input
          type="checkbox"
          checked={areOn}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        {KEYS.single}
      </label>
      <p class="quiet">{KEYS.aboutSingle}</p>
      <div class="row end">
        <button type="button" class="plain" onClick={onClose}>
          {KEYS.close}
        </button>
      </div>
    </Modal>
  )
}
