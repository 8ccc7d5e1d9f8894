// The frame of the page: its header, and the sign-in, the dashboard or the requests.

import { LazyPage } from '@svc/relay-web/common/lazy-page.tsx'
import { Store, useStore } from '@svc/relay-web/common/store.ts'
import type { VNode } from '@svc/relay-web/preact.ts'
import { Dashboard } from './dashboard/dashboard.tsx'
import { isCommand } from './page-entry.ts'
import { session, signOut } from './session/session.ts'
import { SignIn } from './sign-in/sign-in.tsx'
import { APP } from './texts/texts.ts'

/** Whether the page of the requests is open; a command has no other. */
const hasRequests: Store<boolean> = new Store(isRequests())
addEventListener('hashchange', () => hasRequests.set(isRequests()))

const loadRequests = (): Promise<() => VNode> =>
  import('./requests/requests-page.tsx').then(({ RequestsPage }) => RequestsPage)

export function App(): VNode {
  const now = useStore(session)
  const isOwner = now.kind === 'in' && now.role === 'owner'
  const areRequests = useStore(hasRequests) && isOwner
  return (
    <>
      <header class="top">
        <strong class="mark">
          <Mark />
          {isCommand ? APP.command : APP.name}
        </strong>
        {isOwner && !isCommand && <Pages areRequests={areRequests} />}
        <div class="row">
          {now.kind === 'in' && (
            <>
              {now.role === 'reader' && <span class="state">{APP.readOnly}</span>}
              <button type="button" class="plain small" onClick={() => void signOut()}>
                {APP.signOut}
              </button>
            </>
          )}
        </div>
      </header>
      {now.kind === 'starting' && <Starting />}
      {now.kind === 'out' && <SignIn reason={now.reason} />}
      {now.kind === 'in' && areRequests && <LazyPage key={now.token} load={loadRequests} />}
      {now.kind === 'in' && !areRequests && <Dashboard key={now.token} isOwner={isOwner} />}
    </>
  )
}

/** The mark of relay/web/public/favicon.svg: the page loads no picture. */
function Mark(): VNode {
  return (
    <svg viewBox="0 0 32 32" width={24} height={24} aria-hidden="true">
      <path
        fill-rule="evenodd"
        d="M6 3h7.5a4 4 0 0 1 3.3 1.8L18.2 7H26a4 4 0 0 1 4 4v14a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4Zm10 9.5a4 4 0 0 0-2 7.46V24h4v-4.04a4 4 0 0 0-2-7.46Z"
      />
    </svg>
  )
}

function isRequests(): boolean {
  return isCommand || location.hash.startsWith('#requests')
}

function Pages({ areRequests }: { areRequests: boolean }): VNode {
  return (
    <nav aria-label={APP.pages}>
      <a href="#tunnels" {...(!areRequests && { 'aria-current': 'page' as const })}>
        {APP.tunnels}
      </a>
      <a href="#requests" {...(areRequests && { 'aria-current': 'page' as const })}>
        {APP.requests}
      </a>
    </nav>
  )
}

function Starting(): VNode {
  return (
    <main class="wide">
      <p role="status" class="quiet">
        {APP.loading}
      </p>
    </main>
  )
}
