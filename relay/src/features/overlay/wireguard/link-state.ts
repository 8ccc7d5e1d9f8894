// Keeps wireguard.json: the relay's WireGuard key, and the name of its own interface.

import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SettingsError } from '../../../core/config/settings-error.ts'
import { parseFields, readPrivateIfPresent, writePrivate } from '../../../core/storage/state-file.ts'
import { isWireGuardKey } from './overlay-address.ts'

export interface LinkState {
  /** 32 bytes in base64. */
  privateKey: string
  /** 32 bytes in base64. */
  publicKey: string
  /** Name of the interface. It is unique, since network namespaces share the control sockets of WireGuard processes. */
  interfaceName: string
}

const FILE = 'wireguard.json'
/** Prefix of the name of each relay's interface. */
export const INTERFACE_PREFIX = 'svc'
/** With the prefix, 13 characters: a name has 15 at most. */
const INTERFACE_RANDOM_BYTES = 5
const INTERFACE_NAME = /^svc[0-9a-f]{10}$/
/** The bytes before the 32 bytes of an X25519 key in PKCS #8 (RFC 8410 §7). */
const PKCS8_PREFIX: Buffer = Buffer.from('302e020100300506032b656e04220420', 'hex')

/**
 * Reads the file, or writes it at the first start.
 * @throws SettingsError when it is there but cannot be used; it is never overwritten. StateFileError when it cannot be written
 */
export async function loadLinkState(directory: string): Promise<LinkState> {
  const found = await readLinkState(directory)
  if (found !== undefined) return found
  const { privateKey } = generateKeyPairSync('x25519')
  const key = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8_PREFIX.length)
  const interfaceName = `${INTERFACE_PREFIX}${randomBytes(INTERFACE_RANDOM_BYTES).toString('hex')}`
  const file = { private_key: key.toString('base64'), interface: interfaceName }
  await writePrivate(join(directory, FILE), `${JSON.stringify(file, undefined, 2)}\n`)
  return stateOf(file.private_key, interfaceName)
}

/** Reads the file, and never writes it. @throws SettingsError as {@link loadLinkState} does */
export async function readLinkState(directory: string): Promise<LinkState | undefined> {
  const path = join(directory, FILE)
  const text = await readPrivateIfPresent(path)
  if (text === undefined) return undefined
  const unusable = (need: string): SettingsError => new SettingsError(path, need)
  const { private_key: key, interface: interfaceName } = parseFields(path, text)
  if (typeof key !== 'string' || !isWireGuardKey(key))
    throw unusable('private_key needs the base64 of 32 bytes')
  if (typeof interfaceName !== 'string' || !INTERFACE_NAME.test(interfaceName))
    throw unusable('interface needs to be svc and ten hexadecimal digits')
  return stateOf(key, interfaceName)
}

function stateOf(privateKey: string, interfaceName: string): LinkState {
  const der = Buffer.concat([PKCS8_PREFIX, Buffer.from(privateKey, 'base64')])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { privateKey, publicKey: Buffer.from(x, 'base64url').toString('base64'), interfaceName }
}
