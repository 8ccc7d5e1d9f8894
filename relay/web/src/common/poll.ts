// Asks again and again while somebody looks: a hidden tab asks nothing, and a tab that is shown again asks at once.
import { useEffect, useRef, useState } from '../preact.ts'
import type { ApiError } from './api.ts'

export interface Polled<T> {
  /** The newest answer, kept while later ones fail. */
  data: T | undefined
  /** Why there was no newer one. */
  error: ApiError | undefined
  /** Asks now. */
  refresh(): Promise<void>
}

/** @param load is asked at once and, after each answer, again `intervalMs` later */
export function usePoll<T>(load: () => Promise<T>, intervalMs: number): Polled<T> {
  const [polled, setPolled] = useState<Omit<Polled<T>, 'refresh'>>({ data: undefined, error: undefined })
  const refresh = useRef(async () => {})
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let newest = 0
    let ended = false
    const ask = async (): Promise<void> => {
      clearTimeout(timer)
      newest += 1
      const asked = newest
      const outcome = await latest.current().then(
        (data) => () => ({ data, error: undefined }),
        (error: ApiError) => (before: { data: T | undefined }) => ({ data: before.data, error }),
      )
      // What was asked for earlier may be answered later, and is older.
      if (ended || asked !== newest) return
      setPolled(outcome)
      if (!document.hidden) timer = setTimeout(ask, intervalMs)
    }
    const onVisibility = (): void => {
      if (document.hidden) clearTimeout(timer)
      else void ask()
    }
    document.addEventListener('visibilitychange', onVisibility)
    refresh.current = ask
    void ask()
    return () => {
      ended = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [intervalMs])

  return { ...polled, refresh: () => refresh.current() }
}
