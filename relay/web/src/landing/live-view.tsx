// What a site shows its owner below the diagram, such as the requests that it recorded. Its code comes with the site's; the space is
// reserved before.
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import type { Kind } from './demos/demo.ts'
import { publication } from './publication.ts'

const KINDS: ReadonlySet<Kind> = new Set(['webhook', 'chat', 'tools'])

export function LiveView(): VNode | null {
  const now = useStore(publication)
  const View = now?.View
  if (now === undefined || !KINDS.has(now.kind) || (now.state === 'closed' && View === undefined)) return null
  return (
    <div class="live" data-kind={now.kind}>
      {View && <View />}
    </div>
  )
}
