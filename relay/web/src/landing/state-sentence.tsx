// Says what the state of the site means for visitors, and when the page tries again.
import type { SiteState } from '@svc/sdk-browser'
import { useEffect, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import type { Kind } from './demos/demo.ts'
import { HAS_CODE } from './visitor-card.tsx'

const SECOND_MS = 1000

interface StateSentenceProps {
  kind: Kind
  state: SiteState
  /** Milliseconds since the epoch. */
  nextAttemptAt: number | undefined
}

/** It changes each second, which a reader of screens does not say: the state beside it is said. */
export function StateSentence({ kind, state, nextAttemptAt = 0 }: StateSentenceProps): VNode {
  const [now, setNow] = useState(Date.now)
  const isGone = state === 'reconnecting'
  useEffect(() => {
    if (!isGone) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [isGone])
  const seconds = Math.max(0, Math.ceil((nextAttemptAt - now) / SECOND_MS))
  const gone = HAS_CODE && !navigator.onLine ? LANDING.offline : LANDING.relayGone
  return <p class="quiet">{isGone ? gone(seconds) : LANDING.about(state, kind, HAS_CODE)}</p>
}
