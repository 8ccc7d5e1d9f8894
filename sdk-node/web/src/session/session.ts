// The sign-in of this tab: by a ticket from `svc agent` or by a wallet, until it expires.

import { ApiError, type Call, callApi } from '@svc/relay-web/common/api.ts'
import { Store } from '@svc/relay-web/common/store.ts'
import {
  AGENT_PATH,
  type AuthStatus,
  type RedeemRequest,
  type Role,
  type SignIn,
  type WalletChallenge,
  type WalletLoginRequest,
} from '../../../src/agent/api-messages.ts'
import { isCommand } from '../page-entry.ts'
import { COMMAND_SIGN_IN, SIGN_IN } from '../texts/texts.ts'
import type { Wallet } from './wallets.ts'

const SAID = isCommand ? COMMAND_SIGN_IN : SIGN_IN

/** The key in `sessionStorage`, which the tab forgets when it closes. */
const STORED_AS = 'svc-agent-token'
const TICKET = /^#ticket=(.+)$/

interface Session {
  token: string
  role: Role
  /** The wallet that signed in. */
  address?: string | undefined
}

type SessionState =
  | { kind: 'starting' }
  /** With the reason why nobody is signed in, if there is one to show. */
  | { kind: 'out'; reason: string }
  | ({ kind: 'in' } & Session)

export const session: Store<SessionState> = new Store<SessionState>({ kind: 'starting' })

/** Signs in with the ticket in the page's URL, or resumes with this tab's token. */
export async function resume(): Promise<void> {
  const ticket = takeTicket()
  const stored = sessionStorage.getItem(STORED_AS)
  try {
    if (ticket !== undefined) {
      const body: RedeemRequest = { ticket }
      await enter((await callApi<SignIn>(AGENT_PATH.redeem, { body })).access_token)
    } else if (stored !== null) await enter(stored)
    else session.set({ kind: 'out', reason: '' })
  } catch (error) {
    const { isUnauthorized, code, message } = error as ApiError
    const reason = isUnauthorized ? (ticket === undefined ? SAID.over : SAID.usedTicket) : message
    session.set({ kind: 'out', reason: code === 'unreachable' ? SAID.unreachable : reason })
  }
}

/** Another link may be opened in the same tab. */
addEventListener('hashchange', () => {
  if (TICKET.test(location.hash)) void resume()
})

/** Takes the ticket, and removes it from the URL and the history. */
function takeTicket(): string | undefined {
  const [, ticket] = TICKET.exec(location.hash) ?? []
  if (ticket !== undefined) history.replaceState(null, '', location.pathname)
  return ticket
}

/** @throws ApiError, or the error of the wallet */
export async function signInWith(wallet: Wallet): Promise<void> {
  const address = await wallet.address()
  const challenge = await callApi<WalletChallenge>(AGENT_PATH.challenge, { body: { address } })
  const { challenge_id, siwe_message } = challenge
  const siwe_signature = await wallet.sign(siwe_message, address)
  const body: WalletLoginRequest = { challenge_id, siwe_message, siwe_signature }
  await enter((await callApi<SignIn>(AGENT_PATH.login, { body })).access_token)
}

/** Ends the sign-in here and, if it can be reached, at the agent. */
export async function signOut(reason = ''): Promise<void> {
  const now = session.value
  sessionStorage.removeItem(STORED_AS)
  session.set({ kind: 'out', reason })
  if (now.kind === 'in' && reason === '')
    await callApi(AGENT_PATH.logout, { body: {}, token: now.token }).catch(() => {})
}

/** Calls the agent with the current sign-in. @throws ApiError */
export async function ask<T>(path: string, call: Call = {}): Promise<T> {
  const now = session.value
  if (now.kind !== 'in') throw new ApiError('unauthorized', SAID.over)
  try {
    return await callApi<T>(path, { ...call, token: now.token })
  } catch (error) {
    if ((error as ApiError).isUnauthorized && session.value === now) await signOut(SAID.over)
    throw error
  }
}

async function enter(token: string): Promise<void> {
  const { authenticated, role, address } = await callApi<AuthStatus>(AGENT_PATH.authStatus, { token })
  if (!authenticated || role === undefined) {
    await signOut(SAID.over)
    return
  }
  sessionStorage.setItem(STORED_AS, token)
  session.set({ kind: 'in', token, role, address })
}
