// The shape of policy.json, and the policy of a relay that starts for the first time.

import { APPROVAL_MODES, type ApprovalMode } from '@svc/protocol'
import { z } from '../schema.ts'
import type { PortGates } from '../settings.ts'

export interface PolicyFile {
  approval_mode: ApprovalMode
  approved_identity_keys: string[]
  denied_identity_keys: string[]
  banned_identity_keys: string[]
  banned_ips: string[]
  /** Identity key → bytes per second, above 0. */
  identity_bps: Record<string, number>
  udp_enabled: boolean
  udp_max_leases: number
  tcp_port_enabled: boolean
  tcp_port_max_leases: number
  landing_page_enabled: boolean
}

const count = z.int().nonnegative()
const schema: z.ZodType<PolicyFile> = z.object({
  approval_mode: z.enum(APPROVAL_MODES),
  approved_identity_keys: z.array(z.string()),
  denied_identity_keys: z.array(z.string()),
  banned_identity_keys: z.array(z.string()),
  banned_ips: z.array(z.string()),
  identity_bps: z.record(z.string(), z.int().positive()),
  udp_enabled: z.boolean(),
  udp_max_leases: count,
  tcp_port_enabled: z.boolean(),
  tcp_port_max_leases: count,
  landing_page_enabled: z.boolean(),
})

/** @returns undefined when `text` is not a policy */
export function parsePolicyFile(text: string): PolicyFile | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function emptyPolicy(gates: PortGates): PolicyFile {
  return {
    approval_mode: 'auto',
    approved_identity_keys: [],
    denied_identity_keys: [],
    banned_identity_keys: [],
    banned_ips: [],
    identity_bps: {},
    udp_enabled: gates.udp,
    udp_max_leases: 0,
    tcp_port_enabled: gates.tcp,
    tcp_port_max_leases: 0,
    landing_page_enabled: true,
  }
}
