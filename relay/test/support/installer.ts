// A relay that offers small downloads to the machines of the installer's tests, behind a proxy that knows its name.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectProxy, startConnectProxy } from '../../../tools/network/connect-proxy.ts'
import { RELEASE_VERSION } from '../../src/core/version.ts'
import { bundleText, programText, writeDownloads } from './downloads.ts'
import { type InstallOptions, Machine, type MachineOptions } from './install-machine.ts'
import { startTestRelay, type TestRelay } from './relay.ts'

/** The executable of the platform that the tests run on. */
export const HERE: string = process.arch === 'arm64' ? 'linux-arm64' : 'linux-amd64'

export interface Installer {
  /** The directory of the downloads. */
  directory: string
  relay: TestRelay
  proxy: ConnectProxy
  /** The relay's address, its CA and its proxy, for a machine. */
  at: InstallOptions
  /** Writes all downloads again: executables of these platforms, and the bundle. */
  offer(version: string, slugs?: readonly string[]): Promise<void>
  /** Makes a machine with curl, unless the options say otherwise; {@link close} removes it. */
  machine(options?: MachineOptions): Promise<Machine>
  close(): Promise<void>
}

export async function startInstaller(): Promise<Installer> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-installer-'))
  const relay = await startTestRelay({ SVC_INSTALL_DIR: directory })
  const proxy = await startConnectProxy(relay.port)
  const offer = (version: string, slugs: readonly string[] = [HERE]): Promise<void> => {
    const programs = slugs.map((slug) => [slug, programText(version, slug)])
    return writeDownloads(directory, { ...Object.fromEntries(programs), 'svc.mjs': bundleText(version) })
  }
  const machines: Machine[] = []
  await offer(RELEASE_VERSION)
  return {
    directory,
    relay,
    proxy,
    at: { url: relay.origin, caFile: join(relay.directory, 'ca.pem'), proxy: proxy.url },
    offer,
    machine: async (options) => {
      const machine = await Machine.make({ client: 'curl', ...options })
      machines.push(machine)
      return machine
    },
    close: async () => {
      await Promise.all(machines.map((machine) => machine.remove()))
      proxy.close()
      await relay.close()
      await rm(directory, { recursive: true })
    },
  }
}
