// The development CA of the relays of the whole suite: a browser that trusts it opens each of them.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createCa } from '../../relay/src/core/certificates/development-ca.ts'
import { AUTHORITY_VARIABLE } from '../../tools/relay/test-relay.ts'

/** Before the workers start. @returns removes it */
export async function createSuiteAuthority(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-authority-'))
  const { certificate, key } = createCa('relay.localhost')
  await writeFile(path.join(directory, 'ca.pem'), certificate)
  await writeFile(path.join(directory, 'ca-key.pem'), key, { mode: 0o600 })
  process.env[AUTHORITY_VARIABLE] = directory
  return () => rm(directory, { recursive: true })
}

/** In a worker. @returns the CA's certificate, PEM */
export function suiteAuthorityFile(): string {
  return path.join(process.env[AUTHORITY_VARIABLE]!, 'ca.pem')
}
