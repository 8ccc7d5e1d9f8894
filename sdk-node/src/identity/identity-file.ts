// Stores the identity in a file, as JSON with `private_key` or `mnemonic`. Only its owner may read the file, and it is created
// once, even if several processes start at the same time.

import { DERIVATION_PATH_DEFAULT, privateKeyDigits } from '@svc/protocol'
import { createPrivateKey, identityFromKey, SvcError } from '@svc/sdk-core'
import { createPrivateFile, readPrivateFile } from './private-file.ts'

/** @throws SvcError `identity_unavailable`, whose message says what is wrong with the file */
export async function loadIdentityFile(path: string): Promise<Uint8Array> {
  try {
    return await read(path).catch(async (error) => {
      if (error.code !== 'ENOENT') throw error
      await create(path)
      return read(path)
    })
  } catch (cause) {
    if (cause instanceof SvcError) throw cause
    throw new SvcError('identity_unavailable', `no identity from ${path}`, { cause })
  }
}

async function read(path: string): Promise<Uint8Array> {
  return parse(path, await readPrivateFile(path, 'identity_unavailable'))
}

async function parse(path: string, text: string): Promise<Uint8Array> {
  const {
    private_key: key,
    mnemonic,
    derivation_path: derivationPath = DERIVATION_PATH_DEFAULT,
  } = parseJson(path, text)
  const digits = typeof key === 'string' ? privateKeyDigits(key) : undefined
  if (digits !== undefined) return keyOf(path, digits)
  if (key !== undefined || mnemonic === undefined)
    throw new SvcError('identity_unavailable', `${path} has no "private_key" of 64 hexadecimal digits`)
  if (typeof mnemonic !== 'string' || typeof derivationPath !== 'string')
    throw new SvcError('identity_unavailable', `"mnemonic" and "derivation_path" of ${path} must be strings`)
  const { keyOfMnemonic } = await import('@svc/node-kit/mnemonic')
  const derived = keyOfMnemonic(mnemonic, derivationPath)
  if (derived) return derived
  throw new SvcError('identity_unavailable', `${path} has no valid BIP 39 "mnemonic" and "derivation_path"`)
}

function keyOf(path: string, digits: string): Uint8Array {
  const key = Uint8Array.from(Buffer.from(digits, 'hex'))
  try {
    identityFromKey(key)
    return key
  } catch {
    throw new SvcError('identity_unavailable', `"private_key" of ${path} is not a secp256k1 key`)
  }
}

function parseJson(path: string, text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    // The parser's message would quote the file.
    throw new SvcError('identity_unavailable', `${path} is not JSON`)
  }
}

async function create(path: string): Promise<void> {
  const key = Buffer.from(createPrivateKey()).toString('hex')
  await createPrivateFile(path, `${JSON.stringify({ private_key: `0x${key}` })}\n`)
}
