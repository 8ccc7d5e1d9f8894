// The second part of the diagram: the relay, with the bytes that it carries for this tab.
import { formatBytes } from '../common/format.ts'
import { useStore } from '../common/store.ts'
import { useEffect, useState, type VNode } from '../preact.ts'
import { LANDING } from '../texts/landing.ts'
import { publication } from './publication.ts'
import type { Carried } from './wire.ts'

/** Where bytes will be: twelve rows of eight. */
const NOTHING: string = Array.from(
  { length: 12 },
  (_, row) => `${(row * 8).toString(16).padStart(4, '0')}  ${'·· '.repeat(8)} ${'·'.repeat(8)}`,
).join('\n')

export function RelayCard(): VNode {
  const { state = 'closed' } = useStore(publication) ?? {}
  const carried = useCarried(state === 'online')
  const now = state === 'closed' ? undefined : carried
  return (
    <section class="card middle" aria-labelledby="middle-heading" data-direction={now?.direction}>
      {/* A new one for each record: its animation begins again. */}
      {now !== undefined && <span key={now.total} class="passes" />}
      <h2 id="middle-heading">
        {LANDING.relayTitle}
        <span class="quiet">{location.hostname}</span>
      </h2>
      <p class="quiet">{LANDING.relaySees}</p>
      {/* A reader of screens would hear numbers without end. */}
      <pre class="hexdump" aria-hidden="true">
        {now?.dump ?? NOTHING}
      </pre>
      <p class="quiet">{now === undefined ? LANDING.nothingYet : LANDING.carried(formatBytes(now.total))}</p>
    </section>
  )
}

interface Shown extends Carried {
  /** The record in hexadecimal. */
  dump: string
}

/** The code is loaded with the first site. */
function useCarried(isPublished: boolean): Shown | undefined {
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  useEffect(() => {
    if (!isPublished) return
    let isOver = false
    let end = (): void => {
      isOver = true
    }
    const load = async (): Promise<void> => {
      const [{ carried }, { hexdump }] = await Promise.all([import('./wire.ts'), import('./hexdump.ts')])
      const show = (): void => {
        const { value } = carried
        setShown(value && { ...value, dump: hexdump(value.latest) })
      }
      if (isOver) return
      end = carried.subscribe(show)
      show()
    }
    load().catch(() => {}) // The site works without it.
    return () => end()
  }, [isPublished])
  return shown
}
