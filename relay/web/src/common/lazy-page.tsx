// Shows a page whose code is loaded when the user goes there.
import { useEffect, useState, type VNode } from '../preact.ts'
import { COMMON } from '../texts/common.ts'

export function LazyPage({ load }: { load: () => Promise<() => VNode> }): VNode {
  const [Page, setPage] = useState<(() => VNode) | undefined>(undefined)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    load().then(
      (page) => setPage(() => page),
      () => setFailed(true),
    )
  }, [load])
  if (Page !== undefined) return <Page />
  return (
    <main class="wide">
      <p role="status" class="quiet">
        {failed ? COMMON.notLoaded : COMMON.loading}
      </p>
    </main>
  )
}
