// The administration: the login, or what it leads to.
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { Dashboard } from './dashboard.tsx'
import { Login } from './login.tsx'
import { session } from './session.ts'

export function Admin(): VNode {
  const { token, reason } = useStore(session)
  return token === undefined ? <Login reason={reason} /> : <Dashboard />
}
