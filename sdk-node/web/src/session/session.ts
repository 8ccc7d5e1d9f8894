// The sign-in of this tab: with a ticket that `svc agent` printed, or with a wallet, and until when it holds.

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
import { SIGN_IN } from '../texts/texts.ts'
import type { Wallet } from './wallets.ts'

/** The tab forgets it when it closes. */
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
  /** With the reason for which nobody is signed in, where there is one to tell. */
  | { kind: 'out'; reason: string }
  | ({ kind: 'in' } & Session)

export const session: Store<SessionState> = new Store<SessionState>({ kind: 'starting' })

/** Signs in with the ticket of the page's address, or goes on with the token that this tab has. */
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
    const reason = isUnauthorized ? (ticket === undefined ? SIGN_IN.over : SIGN_IN.usedTicket) : message
    session.set({ kind: 'out', reason: code === 'unreachable' ? SIGN_IN.unreachable : reason })
  }
}

/** Another link may be opened in the same tab. */
addEventListener('hashchange', () => {
  if (TICKET.test(location.hash)) void resume()
})

/** The ticket stays neither in the address nor in the history. */
function takeTicket(): string | undefined {
  const [, ticket] = TICKET.exec(location.hash) ?? []
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
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

/** Ends the sign-in here, and at the agent where it can be reached. */
export async function signOut(reason = ''): Promise<void> {
  const now = session.value
  sessionStorage.removeItem(STORED_AS)
  session.set({ kind: 'out', reason })
  if (now.kind === 'in' && reason === '')
    await callApi(AGENT_PATH.logout, { body: {}, token: now.token }).catch(() => {})
}

/** Asks the agent in the name of who is signed in. @throws ApiError */
export async function ask<T>(path: string, call: Call = {}): Promise<T> {
  const now = session.value
  if (now.kind !== 'in') throw new ApiError('unauthorized', SIGN_IN.over)
  try {
    return await callApi<T>(path, { ...call, token: now.token })
  } catch (error) {
    if ((error as ApiError).isUnauthorized && session.value === now) await signOut(SIGN_IN.over)
    throw error
  }
}

async function enter(token: string): Promise<void> {
  const { authenticated, role, address } = await callApi<AuthStatus>(AGENT_PATH.authStatus, { token })
  if (!authenticated || role === undefined) {
    await signOut(SIGN_IN.over)
    return
  }
  sessionStorage.setItem(STORED_AS, token)
  session.set({ kind: 'in', token, role, address })
}
