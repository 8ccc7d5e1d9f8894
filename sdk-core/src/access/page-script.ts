// The script of the sign-in page: it exchanges the secret of a share link for a session.

import { SHARE_FIELD } from './share-links.ts'

export const PAGE_SCRIPT: string = `
const secret = new RegExp('^#${SHARE_FIELD}=([\\\\w-]+)$').exec(location.hash)?.[1]
const say = (id, text) => { document.getElementById(id).textContent = text }
async function exchange() {
  say('state', 'The link signs you in.')
  const { base, next } = document.querySelector('main').dataset
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(base + '/share', { method: 'POST', headers, body: JSON.stringify({ secret }) })
  const { message } = await response.json()
  // The secret stays in no address that is seen, kept or sent on.
  history.replaceState(null, '', location.pathname + location.search)
  if (!response.ok) throw new Error(message)
  location.replace(location.origin + next)
}
if (secret) exchange().catch((error) => { say('state', ''); say('problem', error.message) })
`
