// The list of the inspector's keys.

import { Modal } from '../common/modal.tsx'
import { setSingleKeys, singleKeys } from '../common/single-keys.ts'
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { KEYS } from './texts.ts'

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
