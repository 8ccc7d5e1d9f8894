// Encodes NewSessionTicket (RFC 8446 §4.6.1).

import { HANDSHAKE_TYPE } from './constants.ts'
import { handshakeMessage, u32, vector } from './writer.ts'

export function encodeNewSessionTicket(ticket: {
  lifetimeSeconds: number
  /** The random ticket_age_add, which prevents linking connections by the ticket's age. */
  ageAdd: number
  nonce: Uint8Array
  ticket: Uint8Array
}): Uint8Array {
  return handshakeMessage(
    HANDSHAKE_TYPE.new_session_ticket,
    u32(ticket.lifetimeSeconds),
    u32(ticket.ageAdd),
    vector(1, ticket.nonce),
    vector(2, ticket.ticket),
    vector(2),
  )
}
