// The errors of the agent, its control API and its client: a stable code, and a message for people.

import { AGENT_ERROR_STATUS, type AgentErrorCode } from './api-messages.ts'

/** StartErrorCode says why an agent does not start, or why none was found. */
export type StartErrorCode =
  /** `agent.control_addr` is not a loopback address. */
  | 'address_refused'
  /** Another program listens at `agent.control_addr`. */
  | 'address_in_use'
  /** The state directory cannot be used, or is open to others. */
  | 'state_unusable'
  /** Another agent uses this state directory. */
  | 'agent_running'
  /** No agent answers. */
  | 'agent_unavailable'

export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode | StartErrorCode

  constructor(code: AgentErrorCode | StartErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }

  /** The HTTP status of an answer with this error. */
  get status(): number {
    return AGENT_ERROR_STATUS[this.code as AgentErrorCode] ?? AGENT_ERROR_STATUS.internal
  }
}
