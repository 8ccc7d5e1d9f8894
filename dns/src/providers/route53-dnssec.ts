// DNSSEC at Route 53: a key-signing key in the Key Management Service, and the signing of the hosted zone.

import { randomUUID } from 'node:crypto'
import type { DnssecState } from './provider-error.ts'
import { keySigningKeyRequest, readSigning } from './route53-xml.ts'
import type { Zone } from './zone-api.ts'

const READ = 'the action route53:GetDNSSEC for the hosted zone'
const WRITE =
  'the actions route53:CreateKeySigningKey and route53:EnableHostedZoneDNSSEC, and kms:DescribeKey, kms:GetPublicKey, kms:Sign and kms:CreateGrant for the key'
/** Name of the key-signing key that the relay creates. */
const KEY_NAME = 'svc_relay'

interface Signing {
  zone: Zone
  /** ARN of an asymmetric ECC_NIST_P256 key in us-east-1. Without it the relay only reads the state. */
  keyArn: string | undefined
  get<T>(path: string, needs: string, read: (xml: string) => T, signal: AbortSignal): Promise<T>
  post(path: string, body: string, needs: string, signal: AbortSignal): Promise<void>
  signal: AbortSignal
}

/** @throws ApiError */
export async function enableSigning({ zone, keyArn, get, post, signal }: Signing): Promise<DnssecState> {
  const path = `/hostedzone/${zone.id}`
  const look = () => get(`${path}/dnssec`, READ, readSigning, signal)
  let signing = await look()
  if (signing.state === 'NOT_SIGNING' && keyArn) {
    if (!signing.hasActiveKey)
      await post(
        '/keysigningkey',
        keySigningKeyRequest(zone.id, keyArn, KEY_NAME, randomUUID()),
        WRITE,
        signal,
      )
    await post(`${path}/enable-dnssec`, '', WRITE, signal)
    signing = await look()
  }
  const { state, message, dsRecord } = signing
  return { state: state.toLowerCase(), dsRecord, message: message || advice(state, zone.name) }
}

function advice(state: string, zone: string): string {
  if (state === 'SIGNING') return `add the DS record of ${zone} at its registrar`
  return state === 'NOT_SIGNING' ? 'set AWS_DNSSEC_KMS_KEY_ARN, and the relay enables DNSSEC' : ''
}
