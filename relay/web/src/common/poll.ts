// Loads data at an interval while the tab is visible. A tab that becomes visible loads at once.
import { useEffect, useRef, useState } from '../preact.ts'
import type { ApiError } from './api.ts'

export interface Polled<T> {
  /** The newest data, kept while later loads fail. */
  data: T | undefined
  /** Error of the last load, if it failed. */
  error: ApiError | undefined
  /** Loads now. */
  refresh(): Promise<void>
}

/** @param load called at once, and again `intervalMs` milliseconds after each result */
export function usePoll<T>(load: () => Promise<T>, intervalMs: number): Polled<T> {
  const [polled, setPolled] = useState<Omit<Polled<T>, 'refresh'>>({ data: undefined, error: undefined })
  const refresh = useRef(async () => {})
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let newest = 0
    let ended = false
    const loadNow = async (): Promise<void> => {
      clearTimeout(timer)
      newest += 1
      const started = newest
      const outcome = await latest.current().then(
        (data) => () => ({ data, error: undefined }),
        (error: ApiError) => (before: { data: T | undefined }) => ({ data: before.data, error }),
      )
      // An earlier load may finish later, with older data.
      if (ended || started !== newest) return
      setPolled(outcome)
      if (!document.hidden) timer = setTimeout(loadNow, intervalMs)
    }
    const onVisibility = (): void => {
      if (document.hidden) clearTimeout(timer)
      else void loadNow()
    }
    document.addEventListener('visibilitychange', onVisibility)
    refresh.current = loadNow
    void loadNow()
    return () => {
      ended = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [intervalMs])

  return { ...polled, refresh: () => refresh.current() }
}
