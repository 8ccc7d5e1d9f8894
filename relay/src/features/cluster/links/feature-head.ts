// The head of a stream that carries the visitor of a stored snapshot to the machine that has it.

import { z } from '../../../core/config/schema.ts'
import { frameJson } from './link-messages.ts'

export const FEATURE_VISITOR = 'feature-visitor'

export interface FeatureHead {
  kind: typeof FEATURE_VISITOR
  /** The name in the ClientHello, whose bytes follow. */
  serverName: string
  /** Undefined when a trusted proxy named no client. */
  clientIp?: string | undefined
}

const schema: z.ZodType<FeatureHead> = z.object({
  kind: z.literal(FEATURE_VISITOR),
  serverName: z.string(),
  clientIp: z.string().optional(),
})

export function encodeFeatureHead(serverName: string, clientIp: string | undefined): Buffer<ArrayBuffer> {
  return frameJson({ kind: FEATURE_VISITOR, serverName, clientIp } satisfies FeatureHead)
}

/** @param json first frame of the stream @throws Error when it is not such a head */
export function readFeatureHead(json: unknown): FeatureHead {
  return schema.parse(json)
}
