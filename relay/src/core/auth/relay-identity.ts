// Loads the relay's own identity, a secp256k1 key in identity.json, or creates it at the first start.

import { createECDH, createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DERIVATION_PATH_DEFAULT, privateKeyDigits } from '@svc/protocol'
import { SettingsError } from '../config/settings.ts'
import { parseFields, readPrivateIfPresent, writePrivate } from '../storage/state-file.ts'
import { addressOfPublicKey } from './ethereum-address.ts'
import type { Hex } from './ethereum-signature.ts'

export interface RelayIdentity {
  /** Ethereum address, lower case with `0x`. */
  address: string
  privateKey: KeyObject
  publicKey: KeyObject
  /** Signs 32 bytes, as a descriptor's SHA-256: 65 bytes r, s and v, from which anybody recovers the address. */
  signDigest(digest: Uint8Array): Promise<Uint8Array>
  /** Signs a text with `personal_sign` (EIP-191): 65 bytes r, s and v. */
  personalSign(message: string): Promise<Uint8Array>
}

/** @throws SettingsError when `identity.json` is there but cannot be used; it is never overwritten */
export async function loadIdentity(directory: string): Promise<RelayIdentity> {
  const found = await readIdentity(directory)
  if (found !== undefined) return found
  const key: Hex = `0x${newPrivateKey().toString('hex')}`
  await writePrivate(pathIn(directory), `${JSON.stringify({ private_key: key }, null, 2)}\n`)
  return fromKey(key)
}

/** Reads the identity without creating one. @throws SettingsError as {@link loadIdentity} does */
export async function readIdentity(directory: string): Promise<RelayIdentity | undefined> {
  const path = pathIn(directory)
  const text = await readPrivateIfPresent(path)
  return text === undefined ? undefined : fromFile(path, text)
}

function pathIn(directory: string): string {
  return join(directory, 'identity.json')
}

async function fromFile(path: string, text: string): Promise<RelayIdentity> {
  const key = await parseIdentity(path, text)
  try {
    return fromKey(key)
  } catch {
    throw new SettingsError(path, 'private_key is not a secp256k1 key')
  }
}

async function parseIdentity(path: string, text: string): Promise<Hex> {
  const unusable = (need: string): SettingsError => new SettingsError(path, need)
  const { private_key, mnemonic, derivation_path = DERIVATION_PATH_DEFAULT } = parseFields(path, text)
  if (typeof private_key === 'string') {
    const digits = privateKeyDigits(private_key)
    if (digits === undefined) throw unusable('private_key needs 64 hexadecimal digits')
    return `0x${digits}`
  }
  if (typeof mnemonic !== 'string') throw unusable('needs private_key or mnemonic')
  if (typeof derivation_path !== 'string') throw unusable('derivation_path needs to be text')
  const { keyOfMnemonic } = await import('@svc/node-kit/mnemonic')
  const key = keyOfMnemonic(mnemonic, derivation_path)
  if (key === undefined) throw unusable('mnemonic or derivation_path is not valid')
  return `0x${Buffer.from(key).toString('hex')}`
}

function newPrivateKey(): Buffer {
  const curve = createECDH('secp256k1')
  for (;;) {
    // A draw outside the group's order is refused by setPrivateKey, once in 2^128 draws.
    const key = randomBytes(32)
    try {
      curve.setPrivateKey(key)
      return key
    } catch {}
  }
}

function fromKey(key: Hex): RelayIdentity {
  const scalar = Buffer.from(key.slice(2), 'hex')
  const curve = createECDH('secp256k1')
  curve.setPrivateKey(scalar)
  const point = curve.getPublicKey()
  const privateKey = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'secp256k1',
      d: scalar.toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33, 65).toString('base64url'),
    },
  })
  return {
    address: addressOfPublicKey(point),
    privateKey,
    publicKey: createPublicKey(privateKey),
    signDigest: async (digest) => (await signatures()).signDigest(digest, key),
    personalSign: async (message) => (await signatures()).personalSign(message, key),
  }
}

function signatures(): Promise<typeof import('./ethereum-signature.ts')> {
  return import('./ethereum-signature.ts')
}
