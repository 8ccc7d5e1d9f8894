// The administration page: the login form, or the dashboard.
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { adminLogin } from './admin-login.ts'
import { Dashboard } from './dashboard.tsx'
import { Login } from './login.tsx'

export function Admin(): VNode {
  const { token, reason } = useStore(adminLogin)
  return token === undefined ? <Login reason={reason} /> : <Dashboard />
}
