// The frame of every page: the navigation and the page itself.
import { LazyPage } from './common/lazy-page.tsx'
import { hasDiscovery, loadOffers } from './common/offers.ts'
import { useStore } from './common/store.ts'
import { Landing } from './landing/landing.tsx'
import { useEffect, useRef, type VNode } from './preact.ts'
import { Link } from './shell/link.tsx'
import { hasPublicPages, type Route, route } from './shell/routes.ts'
import { COMMON } from './texts/common.ts'

const titles = (): Record<Route, string> => ({
  '/': location.host,
  '/sites': COMMON.sites,
  '/relays': COMMON.relays,
  '/admin': COMMON.admin,
  '/ca': COMMON.authority,
})
/** The language of all pages but the landing page. */
const ENGLISH = { lang: 'en', dir: 'ltr' } as const

const loadSites = (): Promise<() => VNode> => import('./sites/sites.tsx').then(({ Sites }) => Sites)
const loadRelays = (): Promise<() => VNode> => import('./relays/relays.tsx').then(({ Relays }) => Relays)
const loadAdmin = (): Promise<() => VNode> => import('./admin/admin.tsx').then(({ Admin }) => Admin)
const loadAuthority = (): Promise<() => VNode> =>
  import('./authority/authority.tsx').then(({ Authority }) => Authority)

function Mark(): VNode {
  return (
    <strong class="mark">
      <img src="/favicon.svg" alt="" width={24} height={24} />
      {COMMON.name}
    </strong>
  )
}

export function App(): VNode {
  const here = useStore(route)
  const hasFace = useStore(hasPublicPages)
  const isDiscovering = useStore(hasDiscovery)
  const content = useRef<HTMLDivElement>(null)
  const isFirst = useRef(true)
  useEffect(() => void loadOffers(), [])
  useEffect(() => {
    document.title = `${titles()[here]} · ${COMMON.name}`
    // Users of keyboards and screen readers continue at the beginning of the new page.
    if (!isFirst.current) content.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [here])
  return (
    <>
      <a class="skip" href="#content">
        {COMMON.skip}
      </a>
      <header class="top">
        {hasFace ? (
          <Link to="/" isCurrent={here === '/'}>
            <Mark />
          </Link>
        ) : (
          <Mark />
        )}
        <nav aria-label={COMMON.navigation}>
          {/* The first, since it comes later: it moves nothing. */}
          {isDiscovering && (
            <Link to="/relays" isCurrent={here === '/relays'}>
              {COMMON.relays}
            </Link>
          )}
          {hasFace && (
            <Link to="/sites" isCurrent={here === '/sites'}>
              {COMMON.sites}
            </Link>
          )}
          <a href="/examples/" target="_blank" rel="noopener">
            {COMMON.examples}
          </a>
          <a href="/docs/">{COMMON.documentation}</a>
          <Link to="/admin" isCurrent={here === '/admin'}>
            {COMMON.admin}
          </Link>
        </nav>
      </header>
      <div ref={content} id="content" tabIndex={-1} class="content" {...(here !== '/' && ENGLISH)}>
        {here === '/' && <Landing />}
        {here === '/sites' && <LazyPage key="sites" load={loadSites} />}
        {here === '/relays' && <LazyPage key="relays" load={loadRelays} />}
        {here === '/admin' && <LazyPage key="admin" load={loadAdmin} />}
        {here === '/ca' && <LazyPage key="authority" load={loadAuthority} />}
      </div>
    </>
  )
}
