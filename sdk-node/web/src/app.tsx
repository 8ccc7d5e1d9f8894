// The frame of the page: its header, and the sign-in, the dashboard or the requests.

import { useStore } from '@svc/relay-web/common/store.ts'
import type { VNode } from '@svc/relay-web/preact.ts'
import { Dashboard } from './dashboard/dashboard.tsx'
import { isCommand } from './page-entry.ts'
import { RequestsPage } from './requests/requests-page.tsx'
import { session, signOut } from './session/session.ts'
import { SignIn } from './sign-in/sign-in.tsx'
import { APP } from './texts/texts.ts'

export function App(): VNode {
  const now = useStore(session)
  return (
    <>
      <header class="top">
        <strong>{isCommand ? APP.command : APP.name}</strong>
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
      {now.kind === 'in' && isCommand && <RequestsPage key={now.token} />}
      {now.kind === 'in' && !isCommand && <Dashboard key={now.token} isOwner={now.role === 'owner'} />}
    </>
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
