// What the webhook inspector of this tab recorded. The code is loaded when one is published; the space is reserved before.

import { useStore } from '../common/store.ts'
import type { TabInspector } from '../inspector/tab-inspector.tsx'
import { useEffect, useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'
import { publication } from './publication.ts'

type Loaded = { TabInspector: typeof TabInspector } | 'failed' | undefined

export function Recorded(): VNode | null {
  const now = useStore(publication)
  const [loaded, setLoaded] = useState<Loaded>(undefined)
  const isShown = now?.kind === 'webhook' && (now.recorder !== undefined || now.state !== 'closed')
  useEffect(() => {
    if (!isShown) return
    import('../inspector/tab-inspector.tsx').then(setLoaded, () => setLoaded('failed'))
  }, [isShown])
  if (!isShown) return null
  return (
    <div class="recorded">
      {loaded === 'failed' && <p role="alert">{COMMON.notLoaded}</p>}
      {typeof loaded === 'object' && now.recorder && <loaded.TabInspector recorder={now.recorder} />}
    </div>
  )
}
