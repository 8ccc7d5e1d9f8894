// The sections of the administration, of which those are there whose features are on. Where there is no room beside the page, a
// button with the current one opens them.
import { useEffect, useRef, useState, type VNode } from '../preact.ts'
import { Link } from '../shell/link.tsx'
import { DASHBOARD, SECTIONS } from '../texts/admin.ts'
import type { Parts } from './admin-data.ts'
import { logout } from './admin-login.ts'
import { type Place, pathOf, type SectionId } from './place.ts'
import { PAGES } from './sections.ts'
import { isWaiting } from './sites/site-state.ts'

interface NavigationProps {
  place: Place
  parts: Partial<Parts>
}

export function Navigation({ place, parts }: NavigationProps): VNode {
  const [isOpen, setOpen] = useState(false)
  const nav = useRef<HTMLElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const ids = shownSections(parts)
  const waiting = (parts.leases ?? []).filter(isWaiting).length
  useEffect(() => setOpen(false), [place.section, place.below])
  useEffect(() => {
    if (!isOpen) return
    const closeOnEscape = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return
      setOpen(false)
      opener.current?.focus()
    }
    const closeOutside = ({ target }: Event): void => {
      if (!nav.current?.contains(target as Node)) setOpen(false)
    }
    const listening = new AbortController()
    const { signal } = listening
    document.addEventListener('keydown', closeOnEscape, { signal })
    document.addEventListener('focusin', closeOutside, { signal })
    document.addEventListener('pointerdown', closeOutside, { signal })
    return () => listening.abort()
  }, [isOpen])
  return (
    <nav class="sections" aria-label={DASHBOARD.title} ref={nav} data-open={isOpen}>
      <button
        type="button"
        class="plain menu"
        ref={opener}
        aria-expanded={isOpen}
        aria-controls="sections"
        onClick={() => setOpen(!isOpen)}
      >
        <span class="unseen">{DASHBOARD.sections}: </span>
        {place.section === undefined ? DASHBOARD.sections : SECTIONS[place.section]}
        <Waiting count={place.section === 'access' ? 0 : waiting} />
      </button>
      <ul id="sections">
        {ids.map((id) => (
          <li key={id}>
            <Link to={pathOf(id)} isCurrent={place.section === id} onFollow={() => setOpen(false)}>
              {SECTIONS[id]}
              {id === 'access' && <Waiting count={waiting} />}
            </Link>
          </li>
        ))}
      </ul>
      <button type="button" class="plain small" onClick={() => logout('')}>
        {DASHBOARD.logout}
      </button>
    </nav>
  )
}

/** Those whose features are on; none until that is known. */
function shownSections({ load, relay, cache, payments }: Partial<Parts>): SectionId[] {
  if (load === undefined || relay === undefined || cache === undefined || payments === undefined) return []
  const ids = Object.keys(SECTIONS) as SectionId[]
  return ids.filter((id) => PAGES[id].isShown?.({ load, relay, cache, payments }) !== false)
}

function Waiting({ count }: { count: number }): VNode | null {
  if (count === 0) return null
  return (
    <span class="count" title={DASHBOARD.waiting(count)}>
      {count.toLocaleString('en')}
    </span>
  )
}
