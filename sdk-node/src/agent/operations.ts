// The work of the agent that its control API asks for. The code that starts the control server provides it.

import type {
  AddTunnelRequest,
  AgentConfig,
  AgentStatus,
  ChangeTunnelRequest,
  RelayRequestBody,
  TunnelRequestBody,
} from './api-messages.ts'

/** Each operation throws AgentError with the code of its answer. A change is in svc.toml when its promise resolves. */
export interface AgentOperations {
  /** @param url the address of the control API */
  status(url: string): AgentStatus
  config(): Promise<AgentConfig>
  addTunnel(request: AddTunnelRequest): Promise<void>
  changeTunnel(request: ChangeTunnelRequest): Promise<void>
  removeTunnel(request: TunnelRequestBody): Promise<void>
  pauseTunnel(request: TunnelRequestBody): Promise<void>
  resumeTunnel(request: TunnelRequestBody): Promise<void>
  connectRelay(request: RelayRequestBody): Promise<void>
  disconnectRelay(request: RelayRequestBody): Promise<void>
  reload(): Promise<void>
  /** Begins to end the agent, and does not wait for it. */
  shutdown(): void
  /** Resolves with the last lines of the log, the oldest first. */
  logs(lines: number): Promise<string[]>
  /** Says whether a wallet may sign in. @param address in any case */
  isAllowed(address: string): boolean
  /** Logs an error that the agent did not foresee. */
  failed(error: unknown): void
}
