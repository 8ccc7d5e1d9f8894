// The operations of the agent behind its control API.

import type { Inspection } from '@svc/sdk-core/inspector'
import type {
  AddTunnelRequest,
  AgentConfig,
  AgentShare,
  AgentStatus,
  AnswerKnockRequest,
  ChangeTunnelRequest,
  MadeShare,
  MakeShareRequest,
  RecordTunnelRequest,
  RelayRequestBody,
  TunnelRequestBody,
  WithdrawShareRequest,
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
  recordTunnel(request: RecordTunnelRequest): Promise<void>
  answerKnock(request: AnswerKnockRequest): Promise<void>
  shares(): AgentShare[]
  makeShare(request: MakeShareRequest): Promise<MadeShare>
  withdrawShare(request: WithdrawShareRequest): Promise<void>
  reload(): Promise<void>
  /** Starts the shutdown of the agent, without waiting for it. */
  shutdown(): void
  /** Resolves with the last lines of the log, oldest first. */
  logs(lines: number): Promise<string[]>
  /** Returns what was recorded of tunnels. @throws AgentError `inspector_off` */
  inspection(): Inspection
  /** Returns whether a wallet may sign in. @param address in any letter case */
  isAllowed(address: string): boolean
  /** Logs an unexpected error. */
  failed(error: unknown): void
}
