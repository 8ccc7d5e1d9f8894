// A relay with a name of the Internet, as far as one browser of this machine is concerned: its pictures show the URLs that people get.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '../../tools/network/free-port.ts'
import { type RelayProcess, startRelay } from '../../tools/relay/process.ts'

export interface PublicRelay {
  url: string
  host: string
  /** Where it listens. */
  port: number
  /** PEM of its certificate, which is its own authority. */
  caFile: string
  relay: RelayProcess
  /** For Chromium, which then finds the relay and its sites. */
  resolverRules: string
}

const HOST = 'relay.example'

/** @param directory for its state; it is made. @throws Error without openssl */
export async function startPublicRelay(directory: string): Promise<PublicRelay> {
  mkdirSync(directory, { recursive: true })
  const port = await freePort()
  const [caFile, keyFile] = ['fullchain.pem', 'privatekey.pem'].map((name) => path.join(directory, name))
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile!]
  const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST},DNS:*.${HOST}`]
  execFileSync('openssl', ['req', '-x509', ...key, '-out', caFile!, ...names], { stdio: 'ignore' })
  const url = `https://${HOST}`
  const relay = await startRelay({ env: { SVC_URL: url, SNI_PORT: String(port), IDENTITY_PATH: directory } })
  const resolverRules = `MAP ${HOST}:443 127.0.0.1:${port}, MAP *.${HOST}:443 127.0.0.1:${port}`
  return { url, host: HOST, port, caFile: caFile!, relay, resolverRules }
}
