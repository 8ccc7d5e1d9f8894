// The administration: the login form, or the page of the section.
import '../style/admin/frame.css'
import '../style/admin/forms.css'
import { useStore } from '../common/store.ts'
import type { VNode } from '../preact.ts'
import { adminLogin } from './admin-login.ts'
import { Frame } from './frame.tsx'
import { Login } from './login.tsx'

export function Admin(): VNode {
  const { token, reason } = useStore(adminLogin)
  return token === undefined ? <Login reason={reason} /> : <Frame />
}
