// One ECDSA P-256 certificate for both servers, and its key as a signer that answers at once.
import { execFileSync } from 'node:child_process'
import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ServerConfig, SignRequest } from '@svc/tls'
import { certificateVerifyContent, messageHash, parseServerHello, suiteHash } from '@svc/tls/messages'

const HOST = 'localhost'
const HASH = { 'SHA-256': 'sha256', 'SHA-384': 'sha384' } as const

export interface Identity {
  /** PEM. The certificate is its own authority. */
  certificate: string
  key: string
  /** The same for our engine. */
  config: Pick<ServerConfig, 'certificateChain' | 'algorithm' | 'sign' | 'alpn'>
}

/** Made with openssl. */
export function createIdentity(): Identity {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-bench-'))
  const [keyFile, file] = [path.join(directory, 'key.pem'), path.join(directory, 'certificate.pem')]
  const name = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  execFileSync('openssl', ['req', '-x509', ...newKey, ...name, '-days', '2', '-out', file], {
    stdio: 'ignore',
  })
  const [certificate, key] = [readFileSync(file, 'utf8'), readFileSync(keyFile, 'utf8')]
  rmSync(directory, { recursive: true })
  const privateKey = createPrivateKey(key)
  return {
    certificate,
    key,
    config: {
      certificateChain: [new Uint8Array(new X509Certificate(certificate).raw)],
      algorithm: 'ECDSA_SHA256',
      sign: (request) => new Uint8Array(sign('sha256', verifyContent(request), privateKey)),
      alpn: [],
    },
  }
}

/** The bytes that CertificateVerify signs (RFC 8446 §4.4.3): the relay's part of a handshake. */
function verifyContent(request: SignRequest): Uint8Array {
  const hash = HASH[suiteHash(parseServerHello(request.serverHello).cipherSuite)!]
  const { clientHello, helloRetryRequest, clientHelloRetry } = request
  const transcript = createHash(hash)
  if (helloRetryRequest === undefined) transcript.update(clientHello)
  else
    transcript
      .update(messageHash(createHash(hash).update(clientHello).digest()))
      .update(helloRetryRequest)
      .update(clientHelloRetry!)
  transcript.update(request.serverHello).update(request.encryptedExtensions).update(request.certificate)
  return certificateVerifyContent(transcript.digest())
}
