// @svc/sdk-core/siwe: messages of Sign-In with Ethereum (EIP-4361), for servers that let wallets sign in.

export { type SiweMessage, siweMessage } from '@svc/protocol'
export { checksumAddress } from '../identity/key.ts'
export { addressFault } from './address.ts'
export { parseSiwe, SIWE_MAX_CHARS } from './parse.ts'
export { isSignedBy, type SiweExpectation, type SiweRefusal, type SiweResult, verifySiwe } from './verify.ts'
