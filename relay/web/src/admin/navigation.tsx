// The sections of the administration, of which those are there whose features are on.
import { useEffect, useRef, type VNode } from '../preact.ts'
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
  const list = useRef<HTMLUListElement>(null)
  const { load, relay, cache, payments, leases = [] } = parts
  const isKnown = load !== undefined && relay !== undefined && cache !== undefined && payments !== undefined
  const ids = Object.keys(SECTIONS) as SectionId[]
  const shown = isKnown
    ? ids.filter((id) => PAGES[id].isShown?.({ load, relay, cache, payments }) !== false)
    : []
  const waiting = leases.filter(isWaiting).length
  useEffect(() => {
    // On a phone the sections are one line.
    const current = list.current?.querySelector<HTMLElement>('[aria-current]')
    if (current) list.current?.scrollTo({ left: current.offsetLeft - list.current.clientWidth / 3 })
  }, [place.section, shown.length])
  return (
    <nav class="sections" aria-label={DASHBOARD.title}>
      <ul ref={list}>
        {shown.map((id) => (
          <li key={id}>
            <Link to={pathOf(id)} isCurrent={place.section === id}>
              {SECTIONS[id]}
              {id === 'access' && waiting > 0 && (
                <span class="count" title={DASHBOARD.waiting(waiting)}>
                  {waiting.toLocaleString('en')}
                </span>
              )}
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
