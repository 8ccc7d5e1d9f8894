// What the HTTPS clients of tests share, though each request has a connection: the parsed CA, and the TLS sessions, with which a
// handshake takes half the processor time.
import { Agent } from 'node:https'
import { createSecureContext, type SecureContext } from 'node:tls'

/** CAs that are kept parsed: many more than the relays of one test file. */
const CONTEXTS_MAX = 64
const contexts = new Map<string, SecureContext>()
/** It keeps sessions, and no connection. */
const agent = new Agent()

/** @param ca as PEM. @returns options of a request that trusts only this CA */
export function trusting(ca: string): { secureContext: SecureContext; agent: Agent } {
  const secureContext = contexts.get(ca) ?? createSecureContext({ ca })
  if (contexts.size >= CONTEXTS_MAX) contexts.clear()
  contexts.set(ca, secureContext)
  return { secureContext, agent }
}
