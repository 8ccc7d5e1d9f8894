// Loads all of one entry, again when it changed.

import { useStore } from '../common/store.ts'
import { useEffect, useRef, useState } from '../preact.ts'
import { messageType } from './message-type.ts'
import type { InspectorSource } from './source.ts'
import type { EntryDetail } from './types.ts'

export interface Loaded {
  id: string
  detail?: EntryDetail
  error?: Error
}

/**
 * Returns what was loaded last: for a moment, that is the entry before.
 * @param versions another value for each change of the entry, and of what it is decoded by
 */
export function useDetail(
  source: InspectorSource,
  id: string | undefined,
  versions: readonly unknown[],
  isUnmasked: boolean,
): Loaded | undefined {
  const type = useStore(messageType)
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined)
  const asked = useRef(0)
  const shown = useRef(0)
  useEffect(() => {
    if (id === undefined) return
    asked.current += 1
    const question = asked.current
    // An earlier answer that comes later is older.
    const show = (next: Loaded): void => {
      if (question < shown.current) return
      shown.current = question
      setLoaded(next)
    }
    source.entry(id, isUnmasked, type).then(
      (detail) => show({ id, detail }),
      (error: Error) => show({ id, error }),
    )
  }, [source, id, ...versions, isUnmasked, type])
  return loaded
}
