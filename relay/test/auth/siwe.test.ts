// The public vectors of Sign-In with Ethereum (EIP-4361): who signed is recovered from all of them, and no message
// but our own, be it good or bad, is taken for a registration.

import { isSiweFor, registrationPurpose, siweMessage } from '@svc/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage, parseSiweMessage } from 'viem/siwe'
import { recoverMessageAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { checksumAddress } from '../../src/core/auth/ethereum-address.ts'
import { type Hex, recoverSigner } from '../../src/core/auth/ethereum-signature.ts'
import { issueSiweMessage, type RecoverSigner, verifyProof } from '../../src/core/auth/siwe.ts'
import { newAccount } from '../support/relay.ts'
import parsingNegative from '../vectors/siwe/parsing_negative.json' with { type: 'json' }
import parsingPositive from '../vectors/siwe/parsing_positive.json' with { type: 'json' }
import verificationNegative from '../vectors/siwe/verification_negative.json' with { type: 'json' }
import verificationPositive from '../vectors/siwe/verification_positive.json' with { type: 'json' }

interface Fields {
  domain: string
  address: string
  statement?: string
  uri: string
  version: string
  chainId: string | number
  nonce: string
  issuedAt: string
  expirationTime?: string
  notBefore?: string
  resources?: string[]
}

/** EIP-4361, "Message format". */
function textOf(fields: Fields): string {
  const { domain, address, statement, uri, version, chainId, nonce, issuedAt } = fields
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    ...(statement === undefined ? [''] : [statement, '']),
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...(fields.expirationTime === undefined ? [] : [`Expiration Time: ${fields.expirationTime}`]),
    ...(fields.notBefore === undefined ? [] : [`Not Before: ${fields.notBefore}`]),
    ...(fields.resources === undefined ? [] : ['Resources:', ...fields.resources.map((one) => `- ${one}`)]),
  ].join('\n')
}

/** Order of the group of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const recover: RecoverSigner = async (message, signature) => recoverSigner(message, signature)
const ADDRESS = '0x9d85ca56217d2bb651b00f15e694eb7e713637d4'
const REQUEST = 'rch_0123456789abcdef'
const purpose = { ...registrationPurpose('relay.example'), address: ADDRESS, requestId: REQUEST }
const issued = issueSiweMessage(purpose, 0, 120_000)

describe('verification_positive', () => {
  test.each(Object.entries(verificationPositive))('%s: the signer is recovered', async (_name, vector) => {
    expect(recoverSigner(textOf(vector), vector.signature)).toBe(vector.address.toLowerCase())
  })
})

test.each([27, 28, 0, 1, 2, 26, 29, 255])('v is %i: the signer is the one whom viem names', async (v) => {
  const account = privateKeyToAccount(generatePrivateKey())
  for (let at = 0; at < 8; at++) {
    const message = `message ${at}, wörld`
    const made = await account.signMessage({ message })
    const signature: Hex = `0x${made.slice(2, 130)}${v.toString(16).padStart(2, '0')}`
    const signer = await recoverMessageAddress({ message, signature }).catch(() => undefined)
    expect(recoverSigner(message, signature)).toBe(signer?.toLowerCase())
  }
})

test.each([
  ['zero', 0n],
  ['the order of the group', ORDER],
  ['its upper half', ORDER - 1n],
])('r and s may be %s only where viem takes them, too', async (_name, number) => {
  const digits = number.toString(16).padStart(64, '0')
  const half = (await privateKeyToAccount(generatePrivateKey()).signMessage({ message: 'one' })).slice(2, 66)
  for (const signature of [`0x${digits}${half}1b`, `0x${half}${digits}1b`] as const) {
    const signer = await recoverMessageAddress({ message: 'one', signature }).catch(() => undefined)
    expect(recoverSigner('one', signature)).toBe(signer?.toLowerCase())
  }
})

describe('verification_negative', () => {
  test.each(['malformed signature', 'wrong signature'] as const)('%s: is not its signer', async (name) => {
    const vector = verificationNegative[name]
    expect(recoverSigner(textOf(vector), vector.signature)).not.toBe(vector.address.toLowerCase())
  })

  // What is wrong with the others is their time, domain or nonce: here, that they are not the message issued.
  test.each(Object.entries(verificationNegative))('%s: proves nothing here', async (_name, vector) => {
    const proof = { message: textOf(vector), signature: vector.signature }
    const address = vector.address.toLowerCase()
    await expect(verifyProof(issued, address, proof, recover)).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })
})

describe('parsing_positive', () => {
  test.each(Object.entries(parsingPositive))('%s: this is how a message is written', (_name, vector) => {
    expect(textOf(vector.fields)).toBe(vector.message)
  })

  test.each(Object.entries(parsingPositive))('%s: an SDK does not sign it', (_name, { message, fields }) => {
    const expected = { ...registrationPurpose(fields.domain), address: fields.address, requestId: REQUEST }
    expect(isSiweFor(message, expected)).toBe(false)
  })
})

describe('parsing_negative', () => {
  test.each(Object.entries(parsingNegative))('%s: an SDK does not sign it', (_name, message) => {
    const [host = '', address = ''] = message.split(/ wants you to sign in with your Ethereum account:\n|\n/)
    const expected = { ...registrationPurpose(host), address, requestId: 'some_id' }
    expect(isSiweFor(message, expected)).toBe(false)
  })
})

describe('our message', () => {
  test('reads the same to an independent implementation', () => {
    expect(parseSiweMessage(issued)).toEqual({
      domain: 'relay.example',
      address: checksumAddress(ADDRESS),
      statement: 'Register a svc lease',
      uri: 'https://relay.example/sdk/register',
      version: '1',
      chainId: 1,
      nonce: expect.stringMatching(/^[0-9a-f]{24}$/),
      issuedAt: new Date(0),
      expirationTime: new Date(120_000),
      requestId: REQUEST,
    })
  })

  test('is what an independent implementation writes, byte for byte', () => {
    const message = createSiweMessage({
      domain: 'relay.example:4433',
      address: checksumAddress(ADDRESS) as `0x${string}`,
      statement: 'Register a svc lease',
      uri: 'https://relay.example:4433/sdk/register',
      version: '1',
      chainId: 1,
      nonce: 'abcdefgh12345678',
      issuedAt: new Date(0),
      expirationTime: new Date(120_000),
      requestId: REQUEST,
    })
    const fields = {
      ...registrationPurpose('relay.example:4433'),
      address: checksumAddress(ADDRESS),
      nonce: 'abcdefgh12345678',
      issuedAt: '1970-01-01T00:00:00.000Z',
      expirationTime: '1970-01-01T00:02:00.000Z',
      requestId: REQUEST,
    }
    expect(siweMessage(fields)).toBe(message)
    expect(isSiweFor(message, fields)).toBe(true)
  })
})

test('a message for another purpose says so, and proves nothing at registration', async () => {
  const account = newAccount()
  const login = {
    ...purpose,
    address: account.address,
    statement: 'Sign in to the agent',
    uri: 'https://relay.example/login',
  }
  const message = issueSiweMessage(login, 0, 120_000)
  expect(parseSiweMessage(message)).toMatchObject({ statement: login.statement, uri: login.uri })
  expect(isSiweFor(message, login)).toBe(true)
  expect(isSiweFor(message, { ...purpose, address: account.address })).toBe(false)
  const registration = issueSiweMessage({ ...purpose, address: account.address }, 0, 120_000)
  const proof = { message, signature: await account.signMessage({ message }) }
  const address = account.address.toLowerCase()
  await expect(verifyProof(message, address, proof, recover)).resolves.toBeUndefined()
  await expect(verifyProof(registration, address, proof, recover)).rejects.toMatchObject({
    code: 'unauthorized',
  })
})
