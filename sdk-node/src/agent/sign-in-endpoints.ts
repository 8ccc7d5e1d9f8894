// The endpoints by which a page signs in with a ticket, at each control server.

import { AGENT_PATH, type AuthStatus, type RedeemRequest, type Ticket } from './api-messages.ts'
import { text } from './body-fields.ts'
import type { Endpoint, SharedContext } from './endpoint.ts'

export const SIGN_IN_ENDPOINTS: Readonly<Record<string, Endpoint<SharedContext>>> = {
  [AGENT_PATH.logout]: {
    method: 'POST',
    role: 'reader',
    answer: ({ token }, { signIns }) => {
      signIns.signOut(token)
      return {}
    },
  },
  [AGENT_PATH.authStatus]: {
    method: 'GET',
    answer: ({ caller }): AuthStatus => caller ?? { authenticated: false },
  },
  [AGENT_PATH.ticket]: {
    method: 'POST',
    role: 'owner',
    answer: (_, context): Ticket => newTicket(context),
  },
  [AGENT_PATH.redeem]: {
    method: 'POST',
    answer: ({ body }, { signIns }) => {
      const { ticket }: RedeemRequest = { ticket: text(body, 'ticket') }
      return signIns.redeem(ticket)
    },
  },
}

/** Makes a ticket for the page of a control server. */
export function newTicket({ signIns, url }: SharedContext): Ticket {
  const { ticket, expiresAt } = signIns.newTicket()
  return { ticket, url: `${url}/#ticket=${ticket}`, expires_at: new Date(expiresAt).toISOString() }
}
