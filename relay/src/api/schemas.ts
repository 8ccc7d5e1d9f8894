// What the control plane takes as request bodies; unknown fields are ignored. The only importer of zod.

import { isIP } from 'node:net'
import {
  BINDING_BYTES,
  LEASE_NAME_MAX_CHARS,
  normalizeAddress,
  normalizeName,
  type RegisterChallengeRequest,
  type RegisterRequest,
  type RenewRequest,
  type ReverseEndpointRequest,
  SIGN_ALGORITHMS,
  SIGN_NONCE_BYTES,
  type SignRequest,
  type Tls12SignRequest,
  type Tls13SignRequest,
  type UnregisterRequest,
} from '@svc/protocol'
import { z } from 'zod'
import { RelayError } from '../errors.ts'
import { METADATA_TAG_MAX, METADATA_TAGS_MAX, METADATA_TEXT_MAX, METADATA_THUMBNAIL_MAX } from '../limits.ts'

/** Longer than any message, signature or token of this relay. */
const TEXT_MAX = 8192

const text = z.string().max(TEXT_MAX)
const metadata = z.object({
  description: z.string().max(METADATA_TEXT_MAX).optional(),
  owner: z.string().max(METADATA_TEXT_MAX).optional(),
  thumbnail: z.string().max(METADATA_THUMBNAIL_MAX).optional(),
  tags: z.array(z.string().max(METADATA_TAG_MAX)).max(METADATA_TAGS_MAX).optional(),
  hide: z.boolean().optional(),
})
const identity = z.object({
  name: text.transform((value, context) => {
    const name = normalizeName(value)
    if (name !== undefined) return name
    const message = `must be one DNS label of at most ${LEASE_NAME_MAX_CHARS} characters`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }),
  address: text.transform((value, context) => {
    const address = normalizeAddress(value)
    if (address !== undefined) return address
    context.addIssue({
      code: 'custom',
      message: 'must be an Ethereum address',
      params: { code: 'invalid_address' },
    })
    return z.NEVER
  }),
})
const ttl = z.int().optional()
const reportedIp = z
  .string()
  .refine((value) => value === '' || isIP(value) !== 0, {
    message: 'must be an IP address',
    params: { code: 'invalid_ip' },
  })
  .optional()
const base64 = z.base64()

export const registerChallengeRequest: z.ZodType<RegisterChallengeRequest> = z.object({
  identity,
  allow_canonical_fallback: z.boolean().optional(),
  metadata: metadata.optional(),
  overlay: z.boolean().optional(),
  ttl,
  udp_enabled: z.boolean().optional(),
  tcp_enabled: z.boolean().optional(),
  cache: z.boolean().optional(),
  cache_ttl: z.number().optional(),
})

export const registerRequest: z.ZodType<RegisterRequest> = z.object({
  challenge_id: text,
  siwe_message: text,
  siwe_signature: text,
  reported_ip: reportedIp,
})

export const renewRequest: z.ZodType<RenewRequest> = z.object({
  access_token: text,
  ttl,
  reported_ip: reportedIp,
  metadata: metadata.optional(),
})

export const reverseEndpointRequest: z.ZodType<ReverseEndpointRequest> = z.object({
  access_token: text,
  failed_url: text.optional(),
})

export const unregisterRequest: z.ZodType<UnregisterRequest> = z.object({ access_token: text })

const signRequestBase = z.object({
  key_id: text,
  algorithm: z.enum(SIGN_ALGORITHMS),
  binding: base64.refine((value) => Buffer.from(value, 'base64').length === BINDING_BYTES),
  client_hello: base64,
  timestamp_unix: z.number(),
  nonce: z.hex().refine((value) => value.length === 2 * SIGN_NONCE_BYTES, {
    message: `must be ${SIGN_NONCE_BYTES} bytes`,
  }),
})

const tls13SignRequest: z.ZodType<Tls13SignRequest> = signRequestBase.extend({
  server_hello: base64,
  encrypted_extensions: base64,
  certificate: base64,
  hello_retry_request: base64.optional(),
  client_hello_retry: base64.optional(),
})

const tls12SignRequest: z.ZodType<Tls12SignRequest> = signRequestBase.extend({
  client_random: base64,
  server_random: base64,
  server_ecdh_params: base64,
})

/** @throws RelayError as {@link parseWith} does */
export function parseSignRequest(value: unknown): SignRequest {
  const isTls12 = typeof value === 'object' && value !== null && 'server_ecdh_params' in value
  return isTls12 ? parseWith(tls12SignRequest, value) : parseWith(tls13SignRequest, value)
}

/** @throws RelayError that names the field at fault */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.')
  const code = issue?.code === 'custom' ? issue.params?.code : undefined
  throw new RelayError(code ?? 'invalid_request', `${field}: ${issue?.message ?? 'is not valid'}`)
}
