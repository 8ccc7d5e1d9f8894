// Relays of one machine that find each other: each has a name below `localhost`, and trusts the development CAs of the others.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../network/free-port.ts'
import { root } from '../programs/command.ts'
import { BUDGETS_OF_MANY, type RelayProcess, startRelay, WITHOUT_OVERLOAD } from './process.ts'
import type { TestRelay } from './test-relay.ts'

/** Systems differ in what they know of names below `localhost` (RFC 6761 §6.3). */
const LOCAL_NAMES: string = `--import=${path.join(root, 'relay/test/support/resolve-local-names.ts')}`

/**
 * Starts relays with discovery. The first one asks all others, which it knows soon.
 * @param hosts names below `localhost`
 * @param fronts what stands before some of them, by host: clients come to its port
 */
export async function startRelayGroup(
  hosts: readonly string[],
  env: Record<string, string> = {},
  fronts: Readonly<Record<string, { port: number; relayPort: number }>> = {},
): Promise<TestRelay[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-e2e-relays-'))
  const members = await Promise.all(
    hosts.map(async (host) => {
      const { port, relayPort = port } = fronts[host] ?? { port: await freePort() }
      return { host, port, relayPort, state: path.join(directory, host) }
    }),
  )
  const urls = members.map(({ host, port }) => `https://${host}:${port}`)
  const start = (index: number, more: Record<string, string>): Promise<RelayProcess> => {
    const { relayPort, state } = members[index]!
    const own = { SVC_URL: urls[index]!, SNI_PORT: `${relayPort}`, IDENTITY_PATH: state, LOG_LEVEL: 'info' }
    const execArgv = [...WITHOUT_OVERLOAD, LOCAL_NAMES]
    return startRelay({ env: { ...own, ...BUDGETS_OF_MANY, ...more, ...env }, execArgv })
  }
  // The first start makes the CA.
  const caFiles = members.map(({ state }) => path.join(state, 'ca.pem'))
  for (const index of members.keys()) await (await start(index, {})).stop()
  const bundle = path.join(directory, 'all.pem')
  await writeFile(bundle, await Promise.all(caFiles.map((file) => readFile(file, 'utf8'))))
  const discovery = {
    DISCOVERY: 'true',
    DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
    NODE_EXTRA_CA_CERTS: bundle,
  }
  const relays: TestRelay[] = []
  for (const index of [...members.keys()].toReversed()) {
    const bootstraps = index === 0 ? { BOOTSTRAPS: urls.slice(1).join() } : {}
    const relay = await start(index, { ...discovery, ...bootstraps })
    const stop = async (): Promise<void> => {
      await relay.stop()
      await rm(members[index]!.state, { recursive: true })
      if (index === 0) await rm(directory, { recursive: true })
    }
    relays.unshift({ ...relay, url: urls[index]!, caFile: caFiles[index]!, stop })
  }
  return relays
}
